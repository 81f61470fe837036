import { expect, test } from '@jest/globals';
import { remainingMicro, resetOf } from './model.ts';

test.each([
  ['no cap', null, 5n, 5n, null],
  ['nothing used', 10n, 0n, 0n, 10n],
  ['held and spent', 10n, 3n, 4n, 3n],
  ['used up', 10n, 0n, 10n, 0n],
  ['lowered below what is spent', 5n, 3n, 4n, 0n],
])('remaining: %s', (_name, cap, held, spent, expected) => {
  expect(remainingMicro(cap, held, spent)).toBe(expected);
});

test.each([
  ['in a month', '2026-05-10T12:00:00.000Z', '2026-05-11', '2026-06-01'],
  ['its last millisecond', '2026-05-31T23:59:59.999Z', '2026-06-01', '2026-06-01'],
  ['its first', '2026-06-01T00:00:00.000Z', '2026-06-02', '2026-07-01'],
  ['end of the year', '2026-12-31T23:59:59.999Z', '2027-01-01', '2027-01-01'],
  ['28 February', '2027-02-28T08:00:00.000Z', '2027-03-01', '2027-03-01'],
  ['28 February of a leap year', '2028-02-28T08:00:00.000Z', '2028-02-29', '2028-03-01'],
  ['29 February', '2028-02-29T08:00:00.000Z', '2028-03-01', '2028-03-01'],
  ['31 January', '2027-01-31T08:00:00.000Z', '2027-02-01', '2027-02-01'],
])('resets: %s', (_name, now, daily, monthly) => {
  const resets = (['daily', 'monthly'] as const).map((name) => resetOf(name, Date.parse(now))!);
  expect(resets.map((time) => new Date(time).toISOString())).toEqual(
    [daily, monthly].map((day) => `${day}T00:00:00.000Z`),
  );
  expect(resetOf('total', Date.parse(now))).toBeNull();
});
