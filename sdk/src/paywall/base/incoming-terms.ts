import type { Output } from '../../types.ts';

/** What the API requires of payments by clients of other protocols. */
export type IncomingTerms = Output<'settlement.foreignTerms'>;

const FRESH_MS = 300_000;
/** The pause after a failed read, in which the 402 has no offer of another protocol. */
const RETRY_MS = 10_000;

/**
 * Terms that are read before the first offer and later in the background, because they change
 * rarely. Null after a failed first read.
 */
export const createTerms = (read: () => Promise<IncomingTerms>, onError: (error: unknown) => void) => {
  let found: { terms: IncomingTerms; at: number } | null = null;
  let failedAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;
  const refresh = async (): Promise<void> => {
    try {
      found = { terms: await read(), at: Date.now() };
    } catch (error) {
      failedAt = Date.now();
      onError(error);
    }
    reading = null;
  };
  return async (): Promise<IncomingTerms | null> => {
    const now = Date.now();
    const isStale = found === null || now - found.at > FRESH_MS;
    if (isStale && now - failedAt > RETRY_MS) reading ??= refresh();
    if (found === null) await reading;
    return found?.terms ?? null;
  };
};
