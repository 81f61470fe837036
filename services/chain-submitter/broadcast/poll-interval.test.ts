import { expect, test } from '@jest/globals';
import { createPollInterval } from './poll-interval.ts';

test.each([
  ['before any observation', [], 0, 0, 0],
  ['slots of 400 ms: the fastest was included at the end of one', [350, 60, 410, 220], 30, 48, 21.875],
  ['a slow chain', [1600, 2400, 3200], 100, 1280, 150],
  ['an old transaction is polled less and less often', [1600], 4000, 1280, 250],
  ['at least twice a second', [1600], 60_000, 1280, 500],
  ['old confirmation times do not count', [5, ...Array<number>(32).fill(800)], 0, 640, 50],
])('%s', (_, took, ageMs, firstPoll, pause) => {
  const interval = createPollInterval();
  for (const ms of took) interval.record(ms);
  expect(interval.firstPollMs()).toBeCloseTo(firstPoll, 9);
  expect(interval.pauseMs(ageMs)).toBeCloseTo(pause, 9);
});
