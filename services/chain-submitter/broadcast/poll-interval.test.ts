import { expect, test } from '@jest/globals';
import { createPollInterval } from './poll-interval.ts';

test.each([
  ['nothing is known yet', [], 0, 3, 0, 20],
  ['a chain that confirms at once', [3, 5, 4], 5, 3, 0.3125, 4],
  ['the same under load', [10, 20, 18], 5, 8, 1.125, 9],
  ['slots of 400 ms: the fastest landed at the end of one', [350, 60, 410, 220], 30, 48, 21.875, 20],
  ['a slow chain', [1600, 2400, 3200], 100, 1280, 150, 20],
  ['what takes long is looked at ever less often', [1600], 4000, 1280, 250, 20],
  ['but never less than twice a second', [1600], 60_000, 1280, 500, 20],
  ['what is long ago is forgotten', [5, ...Array<number>(32).fill(800)], 0, 640, 50, 20],
])('%s', (_, took, ageMs, firstLook, pause, leastPause) => {
  const pace = createPollInterval();
  for (const ms of took) pace.record(ms);
  expect(pace.firstPollMs()).toBeCloseTo(firstLook, 9);
  expect(pace.pauseMs(ageMs)).toBeCloseTo(pause, 9);
  expect(pace.leastPauseMs(20)).toBeCloseTo(leastPause, 9);
});
