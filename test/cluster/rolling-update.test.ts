// Proves: a rolling update of every Deployment at the same time refuses no call, and every payment
// that was made meanwhile is final and recorded exactly once.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { recordFigures } from './support/figures.ts';
import { type Installation, runningInstallation } from './support/installation.ts';
import { beginLoad, refusedLines } from './support/load.ts';
import { podsOf, secondsSince } from './support/pods.ts';

/**
 * A rolling update of the pod that the calls pass through would prove nothing about the product.
 */
const OURS = 'edge';

let installation: Installation;
beforeAll(async () => {
  installation = await runningInstallation();
});
afterAll(() => installation?.close());

test('a restart of every Deployment refuses no call and loses no payment', async () => {
  const { kubectl } = installation;
  const deployments = (await kubectl.list('deployments'))
    .map(({ metadata }) => metadata.name as string)
    .filter((name) => name !== OURS);
  const before = await Promise.all(deployments.map((name) => podsOf(kubectl, name)));
  const load = await beginLoad(installation);
  try {
    const startedAt = performance.now();
    await kubectl.run(['rollout', 'restart', ...deployments.map((name) => `deployment/${name}`)]);
    await Promise.all(deployments.map((name) => kubectl.rollout(`deployment/${name}`)));
    const seconds = secondsSince(startedAt);
    const after = await Promise.all(deployments.map((name) => podsOf(kubectl, name)));
    const wrong = await load.conclude();
    const refused = refusedLines(load.refused());
    recordFigures('rolling update', { deployments, seconds, ...load.counts(), refused: refused.length });

    expect({ refused, wrong }).toEqual({ refused: [], wrong: [] });
    const names = (pods: typeof before) => pods.flat().map(({ metadata }) => metadata.name as string);
    expect(names(after).filter((name) => names(before).includes(name))).toEqual([]);
  } finally {
    await load.close();
  }
}, 900_000);
