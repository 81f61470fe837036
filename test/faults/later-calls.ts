import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Calls that clients make some time after a payment. In the end nothing waits any longer: what was
 * to come later is called at once.
 */
export const createLaterCalls = () => {
  const end = new AbortController();
  const calls = new Set<Promise<unknown>>();
  const pause = (ms: number): Promise<void> => sleep(ms, undefined, { signal: end.signal }).catch(() => {});
  return {
    /** Resolves after the time, or when the end has come. */
    pause,
    add: (ms: number, call: () => Promise<unknown>): void => {
      const made = pause(ms)
        .then(call)
        .finally(() => calls.delete(made));
      calls.add(made);
    },
    /** Resolves when the load has ended and every call is answered. */
    finish: async (load: Promise<unknown>): Promise<void> => {
      end.abort();
      await load;
      await Promise.all(calls);
    },
  };
};
