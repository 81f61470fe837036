/**
 * The schedule of attempts. There are eight: the first at once, one after seconds for a restart of
 * the receiver, then with growing delays for an outage. The last comes after about three days.
 */
export const DELAYS_SECONDS = [5, 5 * 60, 30 * 60, 2 * 3600, 8 * 3600, 20 * 3600, 40 * 3600] as const;
export const MAX_TRIES = DELAYS_SECONDS.length + 1;

/** In both directions, so that the deliveries of one outage do not all come at the same time. */
const JITTER = 0.1;

/**
 * Seconds until the next attempt, or null after the last one.
 * @param tries the number of attempts so far, at least 1
 * @param random a random number from 0 to 1
 */
export const retryAfterSeconds = (tries: number, random: number): number | null => {
  const delay = DELAYS_SECONDS[tries - 1];
  return delay === undefined ? null : delay * (1 + JITTER * (2 * random - 1));
};
