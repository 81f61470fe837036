import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { ServiceError } from '../contract/errors.ts';
import { noteActivity, QUIET_PAUSE_MS } from './activity.ts';
import { everyMs, type Periodic } from './periodic.ts';
import type { Logger } from './telemetry/logger.ts';

const logged: string[] = [];
const logger = {
  error: () => logged.push('error'),
  warn: () => logged.push('warn'),
} as unknown as Logger;
let running: Periodic | undefined;

beforeEach(() => void jest.useFakeTimers());
afterEach(async () => {
  await running?.stop();
  jest.useRealTimers();
});

/** The number of runs of a job in each of the given periods. */
const start = (job: (nextWithinMs: number) => Promise<unknown> = () => Promise.resolve()) => {
  let runs = 0;
  running = everyMs(
    1000,
    'clock',
    (nextWithinMs) => {
      runs += 1;
      return job(nextWithinMs);
    },
    logger,
  );
  return async (seconds: number): Promise<number> => {
    const before = runs;
    await jest.advanceTimersByTimeAsync(seconds * 1000);
    return runs - before;
  };
};

test('a job of an active process keeps its pace', async () => {
  const runsIn = start();
  for (let minute = 0; minute < 3; minute += 1) {
    noteActivity();
    expect(await runsIn(25)).toBe(25);
  }
});

test('a job of a quiet process runs every five seconds, and a start counts as activity', async () => {
  const runsIn = start();
  expect(await runsIn(29)).toBe(29);
  await runsIn(6);
  expect(await runsIn(100)).toBe(20);
});

test('activity ends the long pause, and the job follows after its own pause and not at once', async () => {
  const runsIn = start();
  await runsIn(60);
  noteActivity();
  expect(await runsIn(0.9)).toBe(0);
  const { length: first } = Array(await runsIn(0.2));
  expect(first).toBeGreaterThan(0);
  // One more, because the next common moment of the jobs may follow at once.
  expect([20, 21]).toContain(first - 1 + (await runsIn(20)));
});

test('jobs of a process run at the same moments, in the pace of one', async () => {
  const at: Record<string, number[]> = { early: [], late: [] };
  const begin = (name: string) =>
    everyMs(1000, name, async () => void at[name]!.push(Math.round(performance.now())), logger);
  const early = begin('early');
  await jest.advanceTimersByTimeAsync(437);
  const late = begin('late');
  await jest.advanceTimersByTimeAsync(100_000);
  const [active, quiet] = [5, -5].map((from) =>
    Object.values(at).map((moments) => moments.slice(from, from === 5 ? 15 : undefined)),
  );
  expect(active![0]).toHaveLength(10);
  for (const [ofEarly, ofLate] of [active, quiet] as number[][][])
    for (const [index, moment] of ofEarly!.entries())
      expect(Math.abs(moment - ofLate![index]!) % 1000).toBeLessThanOrEqual(1);
  await Promise.all([early.stop(), late.stop()]);
});

test('a job that finds work or fails keeps its pace', async () => {
  let outcome: () => Promise<unknown> = () => Promise.resolve(true);
  const runsIn = start(() => outcome());
  expect(await runsIn(100)).toBe(100);
  outcome = () => Promise.reject(new Error('unavailable'));
  expect(await runsIn(100)).toBe(100);
  outcome = () => Promise.resolve(false);
  await runsIn(60);
  expect(await runsIn(100)).toBe(20);
});

test('a job gets the longest pause until its next run', async () => {
  const limits: number[] = [];
  const runsIn = start((nextWithinMs) => {
    limits.push(nextWithinMs);
    return Promise.resolve();
  });
  await runsIn(100);
  expect(limits[0]).toBe(1000);
  expect(limits.at(-1)).toBe(QUIET_PAUSE_MS);
});

test('a job ends at once in a long pause', async () => {
  const runsIn = start();
  await runsIn(60);
  await running!.stop();
  expect(await runsIn(100)).toBe(0);
});

test('a run that lacks another service is a warning, and any other failure an error', async () => {
  const failures = [new ServiceError('service_unavailable', 'not there yet'), new Error('broken')];
  const runsIn = start(async () => {
    const failure = failures.shift();
    if (failure !== undefined) throw failure;
  });
  logged.length = 0;
  await runsIn(3);
  expect(logged).toEqual(['warn', 'error']);
});
