import { expect, test } from '@jest/globals';
import { lastDays, pointsOf } from './spending-days.ts';

test.each([
  ['2026-11-21T00:00:00.000Z', '2026-11-15T00:00:00.000Z', '2026-11-22T00:00:00.000Z'],
  ['2026-11-21T23:59:59.999Z', '2026-11-15T00:00:00.000Z', '2026-11-22T00:00:00.000Z'],
  ['2027-01-03T12:00:00.000Z', '2026-12-28T00:00:00.000Z', '2027-01-04T00:00:00.000Z'],
])('the last seven days at %s are whole UTC days, today included', (now, from, to) => {
  expect(lastDays(7, Date.parse(now))).toEqual({ from, to });
});

test('there is a bar for every day, also for days without a payment', () => {
  const points = pointsOf({
    ...lastDays(4, Date.parse('2026-03-02T12:00:00Z')),
    ...{ total_spent: '3', total_refunded: '0', total_fees: '0', payment_count: 2 },
    groups: [
      { key: '2026-02-28', spent: '1', payment_count: 1 },
      { key: '2026-03-02', spent: '9007199254740993', payment_count: 1 },
    ],
  });
  expect(points.map(({ micro }) => micro)).toEqual([0n, 1n, 0n, 9_007_199_254_740_993n]);
});
