import { LRUCache } from 'lru-cache';

const MAX_HINTS = 10_000;

/**
 * Transactions that vendors have named, by intent. A hint hurries the search and proves nothing, so
 * it is stored in memory only.
 */
export const createHints = () => new LRUCache<string, string>({ max: MAX_HINTS });
export type Hints = ReturnType<typeof createHints>;
