import { expect, test } from '@jest/globals';
import { parseUtcTime } from './utc-time.ts';

test.each<[string, string, string | null]>([
  ['JavaScript', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z'],
  ['Python', '2026-01-01T12:30:45.123456+00:00', '2026-01-01T12:30:45.123Z'],
  ['Python without a fraction', '2026-01-01T00:00:00+00:00', '2026-01-01T00:00:00.000Z'],
  ['Go', '2026-01-01T12:30:45.123456789Z', '2026-01-01T12:30:45.123Z'],
  ['Java, to the minute', '2026-01-01T12:30Z', '2026-01-01T12:30:00.000Z'],
  ['a comma as the decimal sign', '2026-01-01T12:30:45,5Z', '2026-01-01T12:30:45.500Z'],
  ['an offset without a colon', '2026-01-01T12:30:45+0000', '2026-01-01T12:30:45.000Z'],
  ['an offset in hours', '2026-01-01T12:30:45+00', '2026-01-01T12:30:45.000Z'],
  ['a negative zero (RFC 3339)', '2026-01-01T12:30:45-00:00', '2026-01-01T12:30:45.000Z'],
  ['a plus that a query has decoded', '2026-01-01T12:30:45 00:00', '2026-01-01T12:30:45.000Z'],
  ['small letters (RFC 3339)', '2026-01-01t12:30:45z', '2026-01-01T12:30:45.000Z'],
  ['a leap day', '2028-02-29T00:00:00Z', '2028-02-29T00:00:00.000Z'],
  ['another zone', '2026-01-01T12:30:45+02:00', null],
  ['no zone', '2026-01-01T12:30:45', null],
  ['a day that does not exist', '2026-02-30T00:00:00Z', null],
  ['a month that does not exist', '2026-13-01T00:00:00Z', null],
  ['a second that does not exist', '2026-01-01T12:30:61Z', null],
  ['a point without a fraction', '2026-01-01T12:30:45.Z', null],
  ['a date', '2026-01-01', null],
  ['something behind it', '2026-01-01T12:30:45Z\n', null],
])('%s: %s', (_name, text, expected) => {
  const time = parseUtcTime(text);
  expect(Number.isNaN(time) ? null : new Date(time).toISOString()).toBe(expected);
});
