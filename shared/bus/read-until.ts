import type { Waiting } from './wake.ts';

/**
 * Waits for a record to reach a state. The waiter is registered before the record is read, so a
 * change in between is not missed. The last read finds a change whose wake was lost
 * (docs/design/settle.md, Waiting).
 * @param againMs the longest time between two reads, where a wake may reach another replica only
 * @returns the record as last read, done or not
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
