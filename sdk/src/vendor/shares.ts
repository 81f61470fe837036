const MINUTE_MS = 60_000;
/** How long the observed limit of the API is assumed, because operators can raise it. */
const LEARNED_MS = 3_600_000;

/**
 * Prevents one route from using up the account's quotes per minute. A route with names in its path,
 * or with a price by the request, has an unbounded number of addresses. Once the API has refused a
 * quote, such a route gets half of the quotes of the minute before, and the other routes continue
 * to sell.
 */
export const createShares = () => {
  /** In the order of time. */
  const made: { at: number; route: object }[] = [];
  let learned: { perMinute: number; at: number } | null = null;
  const recent = () => {
    const since = Date.now() - MINUTE_MS;
    while (made[0] !== undefined && made[0].at <= since) made.shift();
    return made;
  };
  return {
    /** True if this route may create a quote for an unpaid address. */
    admits: (route: object): boolean => {
      if (learned === null || Date.now() - learned.at > LEARNED_MS) return true;
      return recent().filter((each) => each.route === route).length < learned.perMinute / 2;
    },
    /** Counts a created quote. */
    count: (route: object): void => {
      recent().push({ at: Date.now(), route });
    },
    /** The API refuses further quotes for now. */
    learn: (): void => {
      learned = { perMinute: Math.max(2, recent().length), at: Date.now() };
    },
  };
};
