import { LRUCache } from 'lru-cache';
import type { Terms } from '../record/store/settlements.ts';

/** The payments of some minutes under the heaviest load, at half a kilobyte each and its scope. */
const MAX_ENTRIES = 5000;

/**
 * The terms of the payments that this replica has accepted and that are not final yet. They never
 * change, so the events and the token of such a payment need no read of its row.
 */
export const createTermsCache = () => {
  const entries = new LRUCache<string, Terms>({ max: MAX_ENTRIES });
  return {
    add: (terms: Terms): void => void entries.set(terms.settlement_id, terms),
    /** Undefined: another replica accepted the payment, or this one accepted it long ago. */
    find: (settlementId: string): Terms | undefined => entries.get(settlementId),
    delete: (settlementId: string): void => void entries.delete(settlementId),
  };
};
export type TermsCache = ReturnType<typeof createTermsCache>;
