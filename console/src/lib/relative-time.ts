/** How long ago a moment is, in words. */

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const words = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/**
 * `just now`, `4 minutes ago`, `yesterday`; `in 2 hours` for a moment to come. Null for a moment
 * that is a week or more away, because a date says more then.
 * @param at and `now` in milliseconds
 */
export const relativeTime = (at: number, now: number): string | null => {
  const past = now - at;
  const size = Math.abs(past);
  const say = (unitMs: number, unit: 'minute' | 'hour' | 'day') =>
    words.format(-Math.sign(past) * Math.floor(size / unitMs), unit);
  if (size < MINUTE_MS) return past < 0 ? 'in a moment' : 'just now';
  if (size < HOUR_MS) return say(MINUTE_MS, 'minute');
  if (size < DAY_MS) return say(HOUR_MS, 'hour');
  if (size < 7 * DAY_MS) return say(DAY_MS, 'day');
  return null;
};
