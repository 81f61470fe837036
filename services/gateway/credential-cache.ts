/**
 * What is known of a credential, for a short time: a burst of calls by one key asks identity once. A revocation that is
 * heard (`forget`) acts at once; one that is missed acts when the entry is too old, since the record is asked again.
 * Both bounds matter: the age for a lost message, the event for a revocation that should not wait for the age.
 */
export type CredentialCache<T> = {
  /** What the record says of this credential, at most `maxAgeMs` old. Rejects as `load` does; that is not kept. */
  get: (key: string) => Promise<T>;
  /** Drops what is known, and what is being asked at this moment: that answer may be from before the revocation. */
  forget: (key: string) => void;
};

/**
 * @param load asks the record; concurrent calls for one key share one question
 * @param maxAgeMs counted from the question, not from its answer: an answer may be as old as its question
 * @param maxEntries the oldest are dropped beyond it, so that a stream of invented keys cannot grow the process
 */
export const createCredentialCache = <T>(
  load: (key: string) => Promise<T>,
  { maxAgeMs, maxEntries = 10_000 }: { maxAgeMs: number; maxEntries?: number },
): CredentialCache<T> => {
  const entries = new Map<string, { askedAt: number; answer: Promise<T> }>();
  return {
    get: (key) => {
      const known = entries.get(key);
      if (known !== undefined && performance.now() - known.askedAt < maxAgeMs) return known.answer;
      const entry = { askedAt: performance.now(), answer: load(key) };
      // Deleted first, so that it stands at the end: the first in the map is the oldest.
      entries.delete(key);
      entries.set(key, entry);
      entry.answer.catch(() => {
        if (entries.get(key) === entry) entries.delete(key);
      });
      if (entries.size > maxEntries) entries.delete(entries.keys().next().value as string);
      return entry.answer;
    },
    forget: (key) => {
      entries.delete(key);
    },
  };
};
