const MINUTE_MS = 60_000;
/** What was learned of the API's limit holds for so long: operators can raise it. */
const LEARNED_MS = 3_600_000;

/**
 * Keeps one route from using up the quotes that the API makes in a minute. A route with names in
 * its path, or with a price by the request, has as many addresses as somebody makes up. Once the
 * API has refused a quote, such a route gets half of what was made in the minute before. The other
 * routes go on selling.
 */
export const createShares = () => {
  let made: { at: number; route: object }[] = [];
  let learned: { perMinute: number; at: number } | null = null;
  const recent = () => {
    const since = Date.now() - MINUTE_MS;
    made = made.filter(({ at }) => at > since);
    return made;
  };
  return {
    /** Whether this route may have a quote for an address that nobody has paid for. */
    admits: (route: object): boolean => {
      if (learned === null || Date.now() - learned.at > LEARNED_MS) return true;
      return recent().filter((each) => each.route === route).length < learned.perMinute / 2;
    },
    /** A quote was made. */
    count: (route: object): void => {
      recent().push({ at: Date.now(), route });
    },
    /** The API makes no more for now. */
    learn: (): void => {
      learned = { perMinute: Math.max(2, recent().length), at: Date.now() };
    },
  };
};
