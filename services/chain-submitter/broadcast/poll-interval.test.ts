import { expect, test } from '@jest/globals';
import { createPollInterval } from './poll-interval.ts';

test.each([
  { title: 'before any observation', confirmedAfterMs: [], ageMs: 0, fastestMs: 0, pauseMs: 0 },
  {
    title: 'new bytes are polled in a sixteenth of the median',
    confirmedAfterMs: [350, 60, 410, 220],
    ageMs: 30,
    fastestMs: 60,
    pauseMs: 350 / 16,
  },
  {
    title: 'on a slow chain that is longer',
    confirmedAfterMs: [1600, 2400, 3200],
    ageMs: 100,
    fastestMs: 1600,
    pauseMs: 2400 / 16,
  },
  {
    title: 'an old transaction is polled less and less often',
    confirmedAfterMs: [1600],
    ageMs: 4000,
    fastestMs: 1600,
    pauseMs: 4000 / 16,
  },
  {
    title: 'at least twice a second',
    confirmedAfterMs: [1600],
    ageMs: 60_000,
    fastestMs: 1600,
    pauseMs: 500,
  },
  {
    title: 'only the last 32 confirmations count',
    confirmedAfterMs: [5, ...Array<number>(32).fill(800)],
    ageMs: 0,
    fastestMs: 800,
    pauseMs: 800 / 16,
  },
])('$title', ({ confirmedAfterMs, ageMs, fastestMs, pauseMs }) => {
  const interval = createPollInterval();
  for (const ms of confirmedAfterMs) interval.record(ms);
  expect(interval.firstPollMs()).toBeCloseTo(0.8 * fastestMs, 9);
  expect(interval.pauseMs(ageMs)).toBeCloseTo(pauseMs, 9);
});
