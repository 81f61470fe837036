/** A function with its answers of late. */
export type Cached<T> = ((key: string) => Promise<T>) & {
  /** Drops what is known of a key, and what is being asked at this moment: that answer may be from before the change. */
  forget: (key: string) => void;
};

/**
 * A function's answers kept for a short time, so that a burst asks once. Concurrent calls share one promise;
 * a rejected one is not kept. `keep` decides which answers are worth keeping.
 * @param maxAgeMs how stale an answer may be, counted from its question: this bounds how late a change is noticed that
 *   nobody told (`forget`)
 * @param maxEntries the oldest are dropped beyond it, so that a stream of new keys cannot grow the process
 */
export const cached = <T>(
  load: (key: string) => Promise<T>,
  {
    maxAgeMs,
    maxEntries = 10_000,
    keep = () => true,
  }: { maxAgeMs: number; maxEntries?: number; keep?: (value: T) => boolean },
): Cached<T> => {
  const entries = new Map<string, { at: number; value: Promise<T> }>();
  const get = (key: string): Promise<T> => {
    const known = entries.get(key);
    if (known !== undefined && performance.now() - known.at < maxAgeMs) return known.value;
    const entry = { at: performance.now(), value: load(key) };
    // Deleted first, so that it stands at the end: the first in the map is the oldest.
    entries.delete(key);
    entries.set(key, entry);
    const drop = () => {
      if (entries.get(key) === entry) entries.delete(key);
    };
    entry.value.then((loaded) => keep(loaded) || drop(), drop);
    if (entries.size > maxEntries) entries.delete(entries.keys().next().value as string);
    return entry.value;
  };
  return Object.assign(get, { forget: (key: string): void => void entries.delete(key) });
};
