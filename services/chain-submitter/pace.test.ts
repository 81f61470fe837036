import { expect, test } from '@jest/globals';
import { createPace } from './pace.ts';

test.each([
  ['nothing is known yet', [], 0, 10, 0],
  ['a chain that confirms at once', [10, 12, 11], 5, 10, 0.6875],
  ['slots of 400 ms: the fastest landed at the end of one', [350, 60, 410, 220], 30, 48, 21.875],
  ['a slow chain', [1600, 2400, 3200], 100, 1280, 150],
  ['what takes long is looked at ever less often', [1600], 4000, 1280, 250],
  ['but never less than twice a second', [1600], 60_000, 1280, 500],
  ['what is long ago is forgotten', [5, ...Array<number>(32).fill(800)], 0, 640, 50],
])('%s', (_, took, ageMs, firstLook, pause) => {
  const pace = createPace();
  for (const ms of took) pace.learn(ms);
  expect(pace.firstLookMs()).toBeCloseTo(firstLook, 9);
  expect(pace.pauseMs(ageMs)).toBeCloseTo(pause, 9);
});
