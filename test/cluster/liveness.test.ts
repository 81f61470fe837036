// Proves: the kubelet restarts a process that hangs, by its liveness probe, and payments recover.
// SIGSTOP makes the process hang: its connections stay open, and it answers nothing.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '../support/base/wait.ts';
import { recordFigures, report } from './support/figures.ts';
import { type Installation, runningInstallation } from './support/installation.ts';
import { beginLoad } from './support/load.ts';
import { type NodeSignals, openNodeSignals } from './support/node-signals.ts';
import { containerOf, isReady, POLL_MS, podsOf, secondsSince } from './support/pods.ts';

/** The gateway, which clients call, and the service that they wait for the longest. */
const VICTIMS = ['settlement', 'gateway'];
const RESTARTED_WITHIN_MS = 300_000;

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

test('a process that hangs is restarted, and payments recover', async () => {
  const own = installation.kubectl;
  const load = await beginLoad(installation);
  try {
    const hung: Record<string, { exitCode: number; readyAfter: number; paidAfter: number }> = {};
    for (const app of VICTIMS) {
      const [pod] = await podsOf(own, app);
      const { name } = pod!.metadata;
      const before = containerOf(pod!).restartCount;
      const startedAt = performance.now();
      await signals.send(name, 'SIGSTOP');
      const restarted = await waitFor(
        () => own.json(['get', 'pod', name]),
        (now) => containerOf(now).restartCount > before && isReady(now),
        RESTARTED_WITHIN_MS,
        POLL_MS,
      );
      const readyAfter = secondsSince(startedAt);
      const { paid } = load.counts();
      await waitFor(
        () => load.counts().paid,
        (now) => now > paid,
        RESTARTED_WITHIN_MS,
      );
      const { exitCode } = containerOf(restarted).lastState.terminated!;
      hung[app] = { exitCode, readyAfter, paidAfter: secondsSince(startedAt) };
      report(`${app} was ready again after ${readyAfter} s`);
    }
    const wrong = await load.conclude();
    recordFigures('hung processes', { hung, ...load.counts(), refused: load.refused().length });
    expect(wrong).toEqual([]);
    // A stopped process cannot end by SIGTERM.
    expect(Object.values(hung).map(({ exitCode }) => exitCode)).toEqual(VICTIMS.map(() => 137));
  } finally {
    await load.close();
  }
}, 1_800_000);
