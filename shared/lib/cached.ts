import { LRUCache } from 'lru-cache';
import { untraced } from './telemetry/trace.ts';

/** A function whose answers are cached for a short time. */
type Cached<I, T> = ((input: I) => Promise<T>) & {
  /**
   * Drops the answer for an input. An answer that is being loaded is dropped too: it may be from
   * before the change.
   */
  invalidate: (input: I) => void;
};

type CacheOptions<T> = {
  maxAgeMs: number;
  refreshAheadForMs?: number;
  maxEntries?: number;
  isCacheable?: (value: T) => boolean;
};
/** A text is its own key. */
type KeyOf<I> = I extends string ? { keyOf?: never } : { keyOf: (input: I) => string };

/** The part of its maximum age after which an answer is refreshed ahead. */
const REFRESH_AT = 0.7;

/**
 * Caches a function's answers for a short time. Concurrent calls share one promise. A rejected
 * promise is not cached.
 * @param keyOf a text that is equal for equal inputs only
 * @param maxAgeMs how old an answer may be, counted from the start of its load. This bounds how
 *   long a change can go unnoticed when no `invalidate` follows it
 * @param refreshAheadForMs for how long after its last use a key is refreshed before its answer
 *   expires, so that no caller waits. For a small number of keys that many callers need
 * @param maxEntries the least recently used entries beyond this number are dropped, so that new
 *   keys cannot exhaust memory
 * @param isCacheable whether an answer may be cached
 */
export const cached = <I, T>(
  load: (input: I) => Promise<T>,
  {
    keyOf = String,
    maxAgeMs,
    refreshAheadForMs = 0,
    maxEntries = 10_000,
    isCacheable = () => true,
  }: CacheOptions<T> & KeyOf<I>,
): Cached<I, T> => {
  type Entry = { loadedAt: number; usedAt: number; value: Promise<T> };
  const entries = new LRUCache<string, Entry>({ max: maxEntries });

  /** Refreshes an entry that is still current and was used recently. */
  const scheduleRefresh = (key: string, input: I, entry: Entry): void => {
    const refresh = () => {
      if (entries.get(key) !== entry || performance.now() - entry.usedAt > refreshAheadForMs) return;
      // The refresh belongs to no call.
      void untraced(() => loadEntry(key, input, entry.usedAt)).catch(() => {});
    };
    setTimeout(refresh, maxAgeMs * REFRESH_AT).unref();
  };

  const loadEntry = (key: string, input: I, usedAt: number): Promise<T> => {
    const entry: Entry = { loadedAt: performance.now(), usedAt, value: load(input) };
    entries.set(key, entry);
    const drop = () => {
      if (entries.get(key) === entry) entries.delete(key);
    };
    entry.value.then((loaded) => isCacheable(loaded) || drop(), drop);
    if (refreshAheadForMs > 0) scheduleRefresh(key, input, entry);
    return entry.value;
  };

  const get = (input: I): Promise<T> => {
    const key = keyOf(input);
    const [entry, now] = [entries.get(key), performance.now()];
    if (entry === undefined || now - entry.loadedAt >= maxAgeMs) return loadEntry(key, input, now);
    entry.usedAt = now;
    return entry.value;
  };
  return Object.assign(get, { invalidate: (input: I): void => void entries.delete(keyOf(input)) });
};

/** The same for one value. */
export const cachedValue = <T>(load: () => Promise<T>, options: CacheOptions<T>): (() => Promise<T>) => {
  const get = cached((_name: string) => load(), options);
  return () => get('');
};
