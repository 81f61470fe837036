/**
 * When a delivery is tried again. Eight tries: at once, after seconds for a restart, then ever later for an outage, the last
 * after about three days.
 */
const DELAYS_SECONDS = [5, 5 * 60, 30 * 60, 2 * 3600, 8 * 3600, 20 * 3600, 40 * 3600] as const;
export const MAX_TRIES = DELAYS_SECONDS.length + 1;

/** Either way, so that an outage of one receiver does not end in all its deliveries at once. */
const JITTER = 0.1;

/**
 * Seconds until the next try, or null when this was the last.
 * @param tries how many were made, 1 and up
 * @param chance from 0 to 1, of a random number
 */
export const retryAfterSeconds = (tries: number, chance: number): number | null => {
  const delay = DELAYS_SECONDS[tries - 1];
  return delay === undefined ? null : delay * (1 + JITTER * (2 * chance - 1));
};
