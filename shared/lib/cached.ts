import { LRUCache } from 'lru-cache';
import { untraced } from './trace.ts';

/** A function with its answers of late. */
export type Cached<T> = ((key: string) => Promise<T>) & {
  /** Drops what is known of a key, and what is being asked at this moment: that answer may be from before the change. */
  forget: (key: string) => void;
};

/** Of its age, when an answer that is asked for ahead is asked for again. */
const AHEAD = 0.7;

/**
 * A function's answers kept for a short time, so that a burst asks once. Concurrent calls share one promise;
 * a rejected one is not kept. `keep` decides which answers are worth keeping.
 * @param maxAgeMs how stale an answer may be, counted from its question: this bounds how late a change is noticed that
 *   nobody told (`forget`)
 * @param aheadForMs so long after a key was last asked for its answer is renewed before it is too old, so that nobody waits
 *   for it: for keys that are few and that everybody asks for
 * @param maxEntries those unused longest are dropped beyond it, so that a stream of new keys cannot grow the process
 */
export const cached = <T>(
  load: (key: string) => Promise<T>,
  {
    maxAgeMs,
    aheadForMs = 0,
    maxEntries = 10_000,
    keep = () => true,
  }: { maxAgeMs: number; aheadForMs?: number; maxEntries?: number; keep?: (value: T) => boolean },
): Cached<T> => {
  type Entry = { at: number; askedAt: number; value: Promise<T> };
  const entries = new LRUCache<string, Entry>({ max: maxEntries });

  /** As long as it is this answer that is known, and somebody has asked for it of late. */
  const renew = (key: string, entry: Entry): void => {
    const again = () => {
      if (entries.get(key) !== entry || performance.now() - entry.askedAt > aheadForMs) return;
      // Belongs to no call.
      void untraced(() => ask(key, entry.askedAt)).catch(() => {});
    };
    setTimeout(again, maxAgeMs * AHEAD).unref();
  };

  const ask = (key: string, askedAt: number): Promise<T> => {
    const entry: Entry = { at: performance.now(), askedAt, value: load(key) };
    entries.set(key, entry);
    const drop = () => {
      if (entries.get(key) === entry) entries.delete(key);
    };
    entry.value.then((loaded) => keep(loaded) || drop(), drop);
    if (aheadForMs > 0) renew(key, entry);
    return entry.value;
  };

  const get = (key: string): Promise<T> => {
    const [known, now] = [entries.get(key), performance.now()];
    if (known === undefined || now - known.at >= maxAgeMs) return ask(key, now);
    known.askedAt = now;
    return known.value;
  };
  return Object.assign(get, { forget: (key: string): void => void entries.delete(key) });
};
