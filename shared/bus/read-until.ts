import type { Waiting } from './wake.ts';

/**
 * Waits for a record to reach a state. The waiter is registered before the record is read, so a
 * change between the two is not missed; a lost wake is caught by the last read
 * (docs/design/settle.md, Waiting).
 * @param againMs how long it waits at most between two reads, where a wake may be told to another
 *   replica alone
 * @returns the record as last read, whether done or not
 */
export const readUntil = async <T>(
  waiting: Waiting,
  key: string,
  {
    read,
    done,
    timeoutMs,
    againMs = timeoutMs,
  }: { read: () => Promise<T>; done: (record: T) => boolean; timeoutMs: number; againMs?: number },
): Promise<T> => {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const left = deadline - performance.now();
    const waiter = waiting.until(key, Math.max(0, Math.min(left, againMs)));
    try {
      const record = await read();
      if (left <= 0 || done(record)) return record;
      await waiter.woken;
    } finally {
      waiter.cancel();
    }
  }
};
