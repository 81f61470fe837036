const DAY_MS = 86_400_000;
/** Of a summary that names no time, today included. */
const DEFAULT_DAYS = 30;

export type Period = { fromMs: number; toMs: number };
export type Problem = { path: 'from' | 'to'; message: string };

const startOfDay = (ms: number): number => ms - (ms % DAY_MS);

/**
 * The time that a summary is about, up to and without `toMs`. Days are UTC days, and epoch milliseconds know no others.
 * @param now of the database, which stamped what is summed up
 */
export const summaryPeriod = (
  asked: { from: string | undefined; to: string | undefined },
  now: number,
  maxDays: number,
): Period | Problem => {
  const toMs = asked.to === undefined ? now : Date.parse(asked.to);
  const fromMs =
    asked.from === undefined
      ? Math.max(0, startOfDay(toMs - 1) - (DEFAULT_DAYS - 1) * DAY_MS)
      : Date.parse(asked.from);
  if (fromMs >= toMs) return { path: 'from', message: 'must be before to' };
  if (toMs - fromMs > maxDays * DAY_MS) {
    return { path: 'from', message: `must be at most ${maxDays} days before to` };
  }
  return { fromMs, toMs };
};
