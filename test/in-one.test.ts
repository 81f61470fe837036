import { afterEach, expect, jest, test } from '@jest/globals';
import { inOne } from './support/base/in-one.ts';

afterEach(() => void jest.useRealTimers());

/** Work that takes these seconds and fails the first times. */
const work = (seconds: number, failures: number) => {
  let runs = 0;
  return async () => {
    runs += 1;
    jest.advanceTimersByTime(seconds * 1000);
    if (runs <= failures) throw new Error(`run ${runs}`);
    return runs;
  };
};

test.each([
  ['within the hour', '12:00:00', 'hour', 1, 'run 1'],
  ['in the next hour', '12:59:59', 'hour', 1, 2],
  ['in the next hour of the same day', '12:59:59', 'day', 1, 'run 1'],
  ['in the next day', '23:59:59', 'day', 1, 2],
  ['twice', '23:59:59', 'day', 2, 'run 2'],
] as const)('work that fails %s', async (_when, time, period, failures, ends) => {
  jest.useFakeTimers({ now: Date.parse(`2030-01-01T${time}Z`) });
  const done = inOne(period, work(2, failures)).catch((error: Error) => error.message);
  expect(await done).toBe(ends);
});
