import { expect, test } from '@jest/globals';
import { summaryPeriod } from './period.ts';

const NOW = Date.parse('2026-11-21T13:30:00.000Z');
const MAX_DAYS = 366;

test.each<[string, from: string | undefined, to: string | undefined, string]>([
  [
    'neither from nor to: 30 UTC days including today',
    undefined,
    undefined,
    '2026-10-23T00:00:00.000Z 2026-11-21T13:30:00.000Z',
  ],
  [
    'from alone: until now',
    '2026-11-21T00:00:00Z',
    undefined,
    '2026-11-21T00:00:00.000Z 2026-11-21T13:30:00.000Z',
  ],
  [
    'to alone: the 30 days before',
    undefined,
    '2026-03-02T08:00:00Z',
    '2026-02-01T00:00:00.000Z 2026-03-02T08:00:00.000Z',
  ],
  [
    'to at midnight: the day that begins then is excluded',
    undefined,
    '2026-03-02T00:00:00Z',
    '2026-01-31T00:00:00.000Z 2026-03-02T00:00:00.000Z',
  ],
  [
    'to near the epoch: from is the epoch',
    undefined,
    '1970-01-02T00:00:00Z',
    '1970-01-01T00:00:00.000Z 1970-01-02T00:00:00.000Z',
  ],
  [
    '366 days',
    '2025-11-21T00:00:00Z',
    '2026-11-22T00:00:00Z',
    '2025-11-21T00:00:00.000Z 2026-11-22T00:00:00.000Z',
  ],
  [
    '366 days and a millisecond',
    '2025-11-21T00:00:00Z',
    '2026-11-22T00:00:00.001Z',
    'from: must be at most 366 days before to',
  ],
  ['from alone, long ago', '2020-01-01T00:00:00Z', undefined, 'from: must be at most 366 days before to'],
  ['empty', '2026-11-21T00:00:00Z', '2026-11-21T00:00:00Z', 'from: must be before to'],
  ['to before from', '2026-11-21T00:00:00Z', '2026-11-20T00:00:00Z', 'from: must be before to'],
  ['from in the future', '2026-11-22T00:00:00Z', undefined, 'from: must be before to'],
  ['to at the first moment', undefined, '1970-01-01T00:00:00Z', 'from: must be before to'],
])('the period of a summary: %s', (_name, from, to, expected) => {
  const period = summaryPeriod({ from, to }, NOW, MAX_DAYS);
  const text =
    'message' in period
      ? `${period.path}: ${period.message}`
      : `${new Date(period.fromMs).toISOString()} ${new Date(period.toMs).toISOString()}`;
  expect(text).toBe(expected);
});
