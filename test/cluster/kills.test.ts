// Proves: SIGKILL of the process of any pod during payments loses no payment and makes none twice.
// Clients repeat their calls meanwhile. The process is killed from its node
// (support/node-signals.ts), so its container ends with exit code 137 and is restarted in the same
// pod.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '../support/base/wait.ts';
import { recordFigures, report } from './support/figures.ts';
import { type Installation, runningInstallation } from './support/installation.ts';
import { beginLoad } from './support/load.ts';
import { type NodeSignals, openNodeSignals } from './support/node-signals.ts';
import { containerOf, isReady, POLL_MS, PRODUCT, podsOf, secondsSince } from './support/pods.ts';
import { waitForTrial } from './support/trial.ts';

const VICTIMS = [...PRODUCT, 'nats', 'redis', 'postgres', 'chain'];
const READY_WITHIN_MS = 240_000;

let installation: Installation;
let signals: NodeSignals;
beforeAll(async () => {
  installation = await runningInstallation();
  signals = await openNodeSignals(installation.kubectl);
});
afterAll(async () => {
  await signals?.close();
  await installation?.close();
});

/**
 * Kills the process of a pod. Returns the exit code of its container, and when it was ready again.
 */
const kill = async (app: string): Promise<{ exitCode: number; seconds: number }> => {
  const [pod] = await podsOf(installation.kubectl, app);
  const { name } = pod!.metadata;
  const before = containerOf(pod!).restartCount;
  const startedAt = performance.now();
  await signals.send(name, 'SIGKILL');
  const restarted = await waitFor(
    () => installation.kubectl.json(['get', 'pod', name]),
    (now) => containerOf(now).restartCount > before && isReady(now),
    READY_WITHIN_MS,
    POLL_MS,
  );
  return {
    exitCode: containerOf(restarted).lastState.terminated!.exitCode,
    seconds: secondsSince(startedAt),
  };
};

test('SIGKILL of each process during payments loses no payment and doubles none', async () => {
  const load = await beginLoad(installation);
  try {
    const killed: Record<string, { exitCode: number; seconds: number }> = {};
    for (const app of VICTIMS) {
      const { paid } = load.counts();
      killed[app] = await kill(app);
      report(`${app} was ready again after ${killed[app].seconds} s`);
      // The next one is killed during payments, too, and not while all clients wait for this one.
      await waitFor(
        () => load.counts().paid,
        (now) => now > paid,
        READY_WITHIN_MS,
      );
    }
    await waitForTrial(installation.kubectl, () => {});
    const wrong = await load.conclude();
    recordFigures('kills', { killed, ...load.counts(), refused: load.refused().length });
    expect(wrong).toEqual([]);
    expect(Object.entries(killed).filter(([, { exitCode }]) => exitCode !== 137)).toEqual([]);
  } finally {
    await load.close();
  }
}, 1_800_000);
