import { expect, test } from '@jest/globals';
import { MAX_TRIES, retryAfterSeconds } from './schedule.ts';

const HOUR = 3600;

test.each([
  [1, 4.5, 5.5],
  [2, 270, 330],
  [3, 1620, 1980],
  [4, 1.8 * HOUR, 2.2 * HOUR],
  [5, 7.2 * HOUR, 8.8 * HOUR],
  [6, 18 * HOUR, 22 * HOUR],
  [7, 36 * HOUR, 44 * HOUR],
])('the attempt after number %i comes %d to %d seconds later', (tries, earliest, latest) => {
  expect(retryAfterSeconds(tries, 0)).toBeCloseTo(earliest);
  expect(retryAfterSeconds(tries, 1)).toBeCloseTo(latest);
});

test('there are eight attempts, the last about three days after the first', () => {
  expect(MAX_TRIES).toBe(8);
  expect(retryAfterSeconds(8, 0.5)).toBeNull();
  const all = [1, 2, 3, 4, 5, 6, 7].map((tries) => retryAfterSeconds(tries, 0.5)!);
  const days = all.reduce((sum, seconds) => sum + seconds) / (24 * HOUR);
  expect([days > 2.5, days < 3.5]).toEqual([true, true]);
});
