import { expect, test } from '@jest/globals';
import { relativeTime } from './relative-time.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

test.each<[ago: number, text: string | null]>([
  [0, 'just now'],
  [59_999, 'just now'],
  [MINUTE, '1 minute ago'],
  [59 * MINUTE, '59 minutes ago'],
  [HOUR, '1 hour ago'],
  [DAY - 1, '23 hours ago'],
  [DAY, 'yesterday'],
  [3 * DAY, '3 days ago'],
  [7 * DAY - 1, '6 days ago'],
  [7 * DAY, null],
  [-1, 'in a moment'],
  [-5 * MINUTE, 'in 5 minutes'],
  [-DAY, 'tomorrow'],
  [-7 * DAY, null],
])('%d ms ago: %s', (ago, text) => {
  expect(relativeTime(10 * DAY - ago, 10 * DAY)).toBe(text);
});
