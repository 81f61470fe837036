/**
 * A function's answers kept for a short time, so that a burst asks once. Concurrent calls share one promise;
 * a rejected one is not kept. `keep` decides which answers are worth keeping.
 * @param maxAgeMs how stale an answer may be: this bounds how late a change is noticed
 * @param maxEntries the oldest are dropped beyond it, so that a stream of new keys cannot grow the process
 */
export const cached = <T>(
  load: (key: string) => Promise<T>,
  {
    maxAgeMs,
    maxEntries = 10_000,
    keep = () => true,
  }: { maxAgeMs: number; maxEntries?: number; keep?: (value: T) => boolean },
): ((key: string) => Promise<T>) => {
  const entries = new Map<string, { at: number; value: Promise<T> }>();
  return (key) => {
    const known = entries.get(key);
    if (known !== undefined && performance.now() - known.at < maxAgeMs) return known.value;
    const value = load(key);
    entries.delete(key);
    const entry = { at: performance.now(), value };
    entries.set(key, entry);
    const forget = () => {
      if (entries.get(key) === entry) entries.delete(key);
    };
    value.then((loaded) => keep(loaded) || forget(), forget);
    if (entries.size > maxEntries) entries.delete(entries.keys().next().value as string);
    return value;
  };
};
