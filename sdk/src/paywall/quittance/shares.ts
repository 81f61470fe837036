import { boundedMap } from '../../bounded-map.ts';
import type { Bill } from '../base/dialect.ts';

const MINUTE_MS = 60_000;
/** How long the observed limit of the API is assumed, because operators can raise it. */
const LEARNED_MS = 3_600_000;
/** The API's limit of quotes a minute, until an answer has reported it. */
const ASSUMED = 30;
/** The part of the quotes of a minute that is left to routes that have created few. */
const RESERVED = 1 / 5;
/** The part of it that is left to addresses that have sold. */
const RESERVED_SOLD = 1 / 10;
const MAX_ENTRIES = 1000;

/** What the API has reported: the limit, what was left, and until when that is known. */
type Quota = { limit: number; left: number; until: number };

const numberIn = (text: string | null, form: RegExp): number | null => {
  const found = form.exec(text ?? '')?.[1];
  return found === undefined ? null : Number(found);
};

/** The account's quota in the headers of an answer (RateLimit-Policy and RateLimit). */
const quotaIn = (headers: Headers): Quota | null => {
  const limit = numberIn(headers.get('ratelimit-policy'), /"account";q=(\d+);w=60\b/);
  const left = numberIn(headers.get('ratelimit'), /"account";r=(\d+)/);
  const seconds = numberIn(headers.get('ratelimit'), /"account";r=\d+;t=(\d+)/);
  if (limit === null || left === null || seconds === null) return null;
  return { limit, left, until: Date.now() + seconds * 1000 };
};

/** Who asks for what. */
type Wanted = Pick<Bill, 'route' | 'resource'> & { network?: string | null | undefined };

/**
 * Prevents one route, and one caller, from using up the account's quotes per minute. A route with
 * names in its path, or with a price by the request, has an unbounded number of addresses. After
 * half of the quotes a network gets a fifth at most, without those that were paid. The last fifth
 * is for routes that have created few, and the last tenth for addresses that have sold. Once the
 * API has refused a quote, a route gets half of the quotes of the minute before, because replicas
 * and other services of the account create quotes, too.
 */
export const createShares = () => {
  /** In the order of time. Those under way are among them. */
  const made: (Wanted & { at: number })[] = [];
  /** Addresses of which quotes were paid. */
  const sold = boundedMap<true>(MAX_ENTRIES);
  let pending = 0;
  let learned: { perMinute: number; at: number } | null = null;
  let quota: Quota | null = null;
  const recent = () => {
    const since = Date.now() - MINUTE_MS;
    while (made[0] !== undefined && made[0].at <= since) made.shift();
    return made;
  };
  const limit = () => quota?.limit ?? ASSUMED;
  const left = () =>
    quota !== null && Date.now() < quota.until ? quota.left - pending : limit() - recent().length;
  /** The quotes of a network for which nobody has paid. */
  const unpaidOf = (network: string): number =>
    recent().filter((each) => each.network === network && !sold.has(each.resource)).length;
  return {
    /** True if a quote may be created for an unpaid request. */
    admits: ({ route, resource, network }: Wanted): boolean => {
      if (sold.has(resource)) return true;
      const own = recent().filter((each) => each.route === route).length;
      const isLimited = learned !== null && Date.now() - learned.at <= LEARNED_MS;
      if (isLimited && own >= learned!.perMinute / 2) return false;
      const reserved = Math.floor(limit() * RESERVED);
      const forSold = Math.floor(limit() * RESERVED_SOLD);
      // A fixed address has no more than this one.
      if (own === 0) return left() > forSold;
      const isScarce = left() <= limit() / 2;
      if (isScarce && network != null && unpaidOf(network) >= reserved) return false;
      return left() > reserved || (own < reserved && left() > forSold);
    },
    /** A quote for this address was paid. */
    sell: (resource: string): void => {
      sold.set(resource, true);
    },
    /** Counts a quote that is being created. The returned function ends it. */
    begin: ({ route, resource, network }: Wanted): ((isMade: boolean) => void) => {
      const entry = { at: Date.now(), route, resource, network };
      recent().push(entry);
      pending += 1;
      return (isMade) => {
        pending -= 1;
        const at = made.indexOf(entry);
        if (!isMade && at >= 0) made.splice(at, 1);
      };
    },
    /** Reads what the API reports with an answer to the creation of a quote. */
    report: (headers: Headers): void => {
      quota = quotaIn(headers) ?? quota;
    },
    /** The API refuses further quotes for now. */
    learn: (): void => {
      learned = { perMinute: Math.max(2, recent().length), at: Date.now() };
    },
  };
};
export type Shares = ReturnType<typeof createShares>;
