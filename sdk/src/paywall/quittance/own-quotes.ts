import { boundedMap } from '../../bounded-map.ts';
import type { Bill } from '../base/dialect.ts';
import { rootOf, type SharedQuote, type Slots } from './slots.ts';

const MINUTE_MS = 60_000;
/** More than one, so that the number of buyers who do not compete for a quote can grow. */
const QUOTES_PER_SALE = 2;
const MAX_ENTRIES = 1000;

/** The quotes that sales allow, for each bill: two for a sale, in its minute and the next one. */
const createAllowance = () => {
  const bills = boundedMap<{ minute: number; before: number; now: number }>(MAX_ENTRIES);
  const leftOf = (name: string) => {
    const minute = Math.floor(Date.now() / MINUTE_MS);
    const left = bills.get(name) ?? { minute, before: 0, now: 0 };
    if (left.minute === minute) return left;
    return { minute, before: left.minute === minute - 1 ? left.now : 0, now: 0 };
  };
  return {
    sold: (name: string): void => {
      const left = leftOf(name);
      bills.set(name, { ...left, now: left.now + QUOTES_PER_SALE });
    },
    /** Returns false if none is left. */
    take: (name: string): boolean => {
      const { minute, before, now } = leftOf(name);
      if (before + now === 0) return false;
      bills.set(name, before > 0 ? { minute, before: before - 1, now } : { minute, before, now: now - 1 });
      return true;
    },
  };
};

type OwnQuotesDeps = {
  create: (bill: Bill, isEarned: boolean) => Promise<SharedQuote>;
  slots: Slots;
  onSale: (resource: string) => void;
  onError: (error: unknown) => void;
};

/**
 * Quotes that only one buyer gets, as many as the sales of a bill allow. Concurrent buyers of one
 * shared quote would compete for it.
 */
export const createOwnQuotes = ({ create, slots, onSale, onError }: OwnQuotesDeps) => {
  const allowance = createAllowance();
  return {
    /** Counts a sale of a bill. */
    sold: (name: string, { resource }: Bill): void => {
      allowance.sold(name);
      onSale(resource);
    },
    /** Null if the sales allow none, or if the API creates none. */
    next: async (name: string, bill: Bill): Promise<SharedQuote | null> => {
      if (!allowance.take(name)) return null;
      try {
        const quote = await create(bill, false);
        await slots.mark(name, rootOf(name), quote);
        return quote;
      } catch (error) {
        onError(error);
        return null;
      }
    },
  };
};
