import { expect, test } from '@jest/globals';
import { splitPeriod, summaryPeriod } from './period.ts';

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

const short = (ms: number) => new Date(ms).toISOString().slice(5, 16);
test.each<[string, from: string, to: string, days: string | null, rest: string[]]>([
  ['whole days', '10-01T00:00', '10-03T00:00', '10-01T00:00 10-03T00:00', []],
  ['a part before', '10-01T10:00', '10-03T00:00', '10-02T00:00 10-03T00:00', ['10-01T10:00 10-02T00:00']],
  ['a part after', '10-01T00:00', '10-02T09:00', '10-01T00:00 10-02T00:00', ['10-02T00:00 10-02T09:00']],
  [
    'both',
    '10-01T10:00',
    '10-04T09:00',
    '10-02T00:00 10-04T00:00',
    ['10-01T10:00 10-02T00:00', '10-04T00:00 10-04T09:00'],
  ],
  ['no whole day', '10-01T10:00', '10-02T09:00', null, ['10-01T10:00 10-02T09:00']],
  ['within a day', '10-01T10:00', '10-01T11:00', null, ['10-01T10:00 10-01T11:00']],
  ['until now: today is whole', '11-20T00:00', '11-21T13:30', '11-20T00:00 11-22T00:00', []],
  ['until later', '11-20T00:00', '11-25T01:00', '11-20T00:00 11-26T00:00', []],
  [
    'until a moment ago',
    '11-20T00:00',
    '11-21T13:29',
    '11-20T00:00 11-21T00:00',
    ['11-21T00:00 11-21T13:29'],
  ],
  ['from today until now', '11-21T10:00', '11-21T13:30', null, ['11-21T10:00 11-22T00:00']],
])('the whole days of a period: %s', (_name, from, to, days, rest) => {
  const ms = (time: string) => Date.parse(`2026-${time}Z`);
  const split = splitPeriod({ fromMs: ms(from), toMs: ms(to) }, NOW);
  const text = ({ fromMs, toMs }: { fromMs: number; toMs: number }) => `${short(fromMs)} ${short(toMs)}`;
  expect(split.days && text(split.days)).toBe(days);
  expect(split.rest.map(text)).toEqual(rest);
});
