import { LRUCache } from 'lru-cache';

const MAX_HINTS = 10_000;

/**
 * Transactions that vendors have named, by intent. A hint hurries the search and proves nothing, so
 * it is stored in memory only.
 */
export const createHints = (max = MAX_HINTS) => new LRUCache<string, string>({ max });
export type Hints = ReturnType<typeof createHints>;
