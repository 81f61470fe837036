import { expect, test } from '@jest/globals';
import { createPollInterval } from './poll-interval.ts';

test.each([
  ['before any observation', [], 0, 3, 0, 20],
  ['a chain that confirms immediately', [3, 5, 4], 5, 3, 0.3125, 4],
  ['the same under load', [10, 20, 18], 5, 8, 1.125, 9],
  ['slots of 400 ms: the fastest was included at the end of one', [350, 60, 410, 220], 30, 48, 21.875, 20],
  ['a slow chain', [1600, 2400, 3200], 100, 1280, 150, 20],
  ['an old transaction is polled less and less often', [1600], 4000, 1280, 250, 20],
  ['at least twice a second', [1600], 60_000, 1280, 500, 20],
  ['old confirmation times do not count', [5, ...Array<number>(32).fill(800)], 0, 640, 50, 20],
])('%s', (_, took, ageMs, firstPoll, pause, leastPause) => {
  const interval = createPollInterval();
  for (const ms of took) interval.record(ms);
  expect(interval.firstPollMs()).toBeCloseTo(firstPoll, 9);
  expect(interval.pauseMs(ageMs)).toBeCloseTo(pause, 9);
  expect(interval.leastPauseMs(20)).toBeCloseTo(leastPause, 9);
});
