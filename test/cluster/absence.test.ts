// Proves: a Deployment that is scaled to zero pages within two minutes, by the alarms of an
// installation in a Prometheus that reads its pods.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '../support/base/wait.ts';
import { recordFigures, report } from './support/figures.ts';
import { type Installation, runningInstallation } from './support/installation.ts';
import { PRODUCT, secondsSince, waitForPods } from './support/pods.ts';
import { type Alarms, startAlarms } from './support/prometheus.ts';

const PAGES_WITHIN_SECONDS = 120;
const POLL_MS = 500;
/** Half of them at a time, so that the environment is still known by the other half. */
const HALVES = [PRODUCT.filter((_, index) => index % 2 === 0), PRODUCT.filter((_, index) => index % 2 === 1)];

let installation: Installation;
let alarms: Alarms;
beforeAll(async () => {
  installation = await runningInstallation();
  alarms = await startAlarms(installation.kubectl);
}, 240_000);
afterAll(async () => {
  await alarms?.close();
  await installation?.close();
});

/** The processes whose absence pages now. */
const absent = async (): Promise<string[]> =>
  (await alarms.read())
    .filter(({ labels, state }) => labels.alertname === 'ProcessAbsent' && state === 'firing')
    .map(({ labels }) => labels.service_name!);

test('each Deployment that is scaled to zero pages, and its page ends when it is back', async () => {
  const own = installation.kubectl;
  // Each has been read once.
  await waitFor(absent, (now) => now.length === 0, 120_000, POLL_MS);
  const pagedAfter: Record<string, number> = {};
  const endedAfter: number[] = [];
  for (const half of HALVES) {
    const deployments = half.map((name) => `deployment/${name}`);
    const startedAt = performance.now();
    await own.run(['scale', '--replicas=0', ...deployments]);
    await waitFor(
      async () => {
        const now = await absent();
        for (const name of now) pagedAfter[name] ??= secondsSince(startedAt);
        return now;
      },
      (now) => half.every((name) => now.includes(name)),
      2 * PAGES_WITHIN_SECONDS * 1000,
      POLL_MS,
    );
    report(`paged: ${JSON.stringify(pagedAfter)}`);
    expect(new Set(await absent())).toEqual(new Set(half));
    await own.run(['scale', '--replicas=1', ...deployments]);
    const backAt = performance.now();
    for (const name of half) await waitForPods(own, name, 1);
    await waitFor(absent, (now) => now.length === 0, 240_000, POLL_MS);
    endedAfter.push(secondsSince(backAt));
  }
  recordFigures('pages of Deployments at zero', { pagedAfter, endedAfter });
  // The promise of docs/runbook.md (ProcessAbsent), and no measure of this machine's speed.
  expect(Object.entries(pagedAfter).filter(([, seconds]) => seconds > PAGES_WITHIN_SECONDS)).toEqual([]);
}, 900_000);
