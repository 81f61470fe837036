import { parseUtcTime } from '../../../../shared/contract/utc-time.ts';

const DAY_MS = 86_400_000;
/** The days of a summary that names no time, including today. */
const DEFAULT_DAYS = 30;

export type Period = { fromMs: number; toMs: number };
type Problem = { path: 'from' | 'to'; message: string };

const startOfDay = (ms: number): number => ms - (ms % DAY_MS);
/** The first midnight that is not before this time. */
const endOfDay = (ms: number): number => startOfDay(ms + DAY_MS - 1);

/**
 * The period of a summary; `toMs` is exclusive. Days are UTC days.
 * @param now the time of the database, which stamped the rows
 */
export const summaryPeriod = (
  input: { from: string | undefined; to: string | undefined },
  now: number,
  maxDays: number,
): Period | Problem => {
  const toMs = input.to === undefined ? now : parseUtcTime(input.to);
  const fromMs =
    input.from === undefined
      ? Math.max(0, startOfDay(toMs - 1) - (DEFAULT_DAYS - 1) * DAY_MS)
      : parseUtcTime(input.from);
  if (fromMs >= toMs) return { path: 'from', message: 'must be before to' };
  if (toMs - fromMs > maxDays * DAY_MS) {
    return { path: 'from', message: `must be at most ${maxDays} days before to` };
  }
  return { fromMs, toMs };
};

/** A period as its whole UTC days and the parts of days at its ends. */
export type Split = { days: Period | null; rest: Period[] };

/**
 * Splits a period. Its last day counts as whole if the period ends now or later, because nothing is
 * later than now.
 */
export const splitPeriod = ({ fromMs, toMs }: Period, now: number): Split => {
  const endMs = toMs >= now ? endOfDay(toMs) : toMs;
  const [first, last] = [endOfDay(fromMs), startOfDay(endMs)];
  if (first >= last) return { days: null, rest: [{ fromMs, toMs: endMs }] };
  const rest = [
    { fromMs, toMs: first },
    { fromMs: last, toMs: endMs },
  ];
  return { days: { fromMs: first, toMs: last }, rest: rest.filter((part) => part.fromMs < part.toMs) };
};
