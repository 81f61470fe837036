import { LRUCache } from 'lru-cache';
import { inParts, ofTurn } from './of-turn.ts';
import { untraced } from './telemetry/trace.ts';

type Options<I, T> = {
  keyOf: (input: I) => string;
  maxAgeMs: number;
  refreshForMs: number;
  maxEntries?: number;
  isCacheable?: (value: T) => boolean;
  isRefreshed?: (value: T) => boolean;
};

/** A function whose answers are cached for a short time and loaded together. */
type CachedMany<I, T> = ((input: I) => Promise<T>) & {
  /**
   * Drops the answer for an input. An answer that is being loaded is dropped too: it may be from
   * before the change.
   */
  invalidate: (input: I) => void;
};

/** The part of its maximum age after which an answer is refreshed ahead. */
const REFRESH_AT = 0.7;
/** The inputs of one load. Its message stays far below the size that the server accepts. */
const MOST_AT_ONCE = 500;

/**
 * Caches answers for a short time and loads many at once: those that a turn of the event loop
 * misses, and ahead of their expiry those that were used lately. So what is asked for the accounts
 * of all payers costs one call in `maxAgeMs`, however many pay. A rejected load is not cached, and
 * rejects its callers only.
 * @param load the answers in the order of the inputs, which differ from one another
 * @param keyOf a text that is equal for equal inputs only
 * @param maxAgeMs how old an answer may be, counted from the start of its load
 * @param refreshForMs for how long after its last use an answer is refreshed ahead
 * @param maxEntries the least recently used entries beyond this number are dropped
 * @param isCacheable whether an answer may be cached
 * @param isRefreshed whether an answer is worth a refresh: one that anybody can cause is not
 */
export const cachedMany = <I, T>(
  load: (inputs: readonly I[]) => Promise<readonly T[]>,
  {
    keyOf,
    maxAgeMs,
    refreshForMs,
    maxEntries = 10_000,
    isCacheable = () => true,
    isRefreshed = () => true,
  }: Options<I, T>,
): CachedMany<I, T> => {
  /** `isRefreshed` is false until the answer is there. */
  type Entry = { input: I; loadedAt: number; usedAt: number; value: Promise<T>; isRefreshed: boolean };
  const loadAll = inParts(load, MOST_AT_ONCE);
  const entries = new LRUCache<string, Entry>({ max: maxEntries });
  const loadInTurn = ofTurn(loadAll);
  let isScheduled = false;

  const schedule = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    setTimeout(refresh, maxAgeMs * REFRESH_AT).unref();
  };

  const store = (entry: Entry): void => {
    const key = keyOf(entry.input);
    entries.set(key, entry);
    const drop = () => {
      if (entries.peek(key) === entry) entries.delete(key);
    };
    entry.value.then((loaded) => {
      entry.isRefreshed = isRefreshed(loaded);
      if (!isCacheable(loaded)) drop();
    }, drop);
    schedule();
  };

  /** A refresh belongs to no call. One that fails leaves the answer until it is too old. */
  const refresh = (): void => {
    isScheduled = false;
    const now = performance.now();
    const due = [...entries.values()].filter(
      (entry) => entry.isRefreshed && now - entry.usedAt <= refreshForMs,
    );
    if (due.length === 0) return;
    const values = untraced(() => loadAll(due.map(({ input }) => input)));
    due.forEach((entry, index) => {
      const value = values[index]!;
      value.then(
        () => {
          if (entries.peek(keyOf(entry.input)) === entry) store({ ...entry, loadedAt: now, value });
        },
        () => {},
      );
    });
    schedule();
  };

  const get = (input: I): Promise<T> => {
    const [entry, now] = [entries.get(keyOf(input)), performance.now()];
    if (entry !== undefined && now - entry.loadedAt < maxAgeMs) {
      entry.usedAt = now;
      return entry.value;
    }
    const value = loadInTurn(input);
    store({ input, loadedAt: now, usedAt: now, value, isRefreshed: false });
    return value;
  };
  return Object.assign(get, { invalidate: (input: I): void => void entries.delete(keyOf(input)) });
};
