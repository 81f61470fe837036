import { expect, test } from '@jest/globals';
import { Refusal } from '../../shared/lib/refusal.ts';
import { sinceOf } from './since.ts';

const now = new Date('2026-11-28T14:00:00.000Z');

test.each([
  ['90m', '2026-11-28T12:30:00.000Z'],
  ['24h', '2026-11-27T14:00:00.000Z'],
  ['7d', '2026-11-21T14:00:00.000Z'],
  ['2026-11-28', '2026-11-28T00:00:00.000Z'],
  ['2026-11-28T13:59Z', '2026-11-28T13:59:00.000Z'],
  ['2026-11-28T13:59:01.5Z', '2026-11-28T13:59:01.500Z'],
])('--since %s is %s', (text, expected) => {
  expect(sinceOf(text, now)).toBe(expected);
});

test.each(['', 'yesterday', '7', '7w', '2026-11-28T13:59', '2026-13-01', '2026-11-28T25:00Z'])(
  '--since "%s" is refused',
  (text) => {
    expect(() => sinceOf(text, now)).toThrow(Refusal);
  },
);
