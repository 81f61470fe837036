import { boundedMap } from '../../../sdk/src/paywall/adapter.ts';
import type { PaywallStore } from '../../../sdk/src/paywall/main.ts';

/** Counts the free calls of callers, each number down to zero. */
export type FreeCounters = {
  /**
   * Counts one call, in one atomic step.
   * @param calls where a number begins that is not there
   * @returns the calls that are left, or null if there is none
   */
  take: (key: string, calls: number, ttlMs: number) => Promise<number | null>;
  release: (key: string) => Promise<void>;
};

/** The numbers in a store that gates share. */
export const sharedCounters = (store: PaywallStore): FreeCounters => {
  const take = store.take!;
  const taken = async (key: string): Promise<number | null> => {
    const left = await take(key, 1n, []);
    return typeof left === 'bigint' ? Number(left) : null;
  };
  return {
    take: async (key, calls, ttlMs) => {
      const left = await taken(key);
      if (left !== null) return left;
      if (await store.compareAndSet(key, null, String(calls - 1), ttlMs)) return calls - 1;
      // It is used up, or another call has just begun it.
      return taken(key);
    },
    release: async (key) => {
      await take(key, -1n, []);
    },
  };
};

/** About 20 MB. A caller who is dropped begins again. */
const MOST_CALLERS = 100_000;

/**
 * The numbers in the memory of this process. They are not in the store of the paywall: a window is
 * longer than its records live, and callers can make up any number of names.
 */
export const memoryCounters = (most = MOST_CALLERS): FreeCounters => {
  const held = boundedMap<{ left: number; endsAt: number }>(most);
  return {
    take: async (key, calls, ttlMs) => {
      const found = held.get(key);
      const isOpen = found !== undefined && Date.now() < found.endsAt;
      const { left, endsAt } = isOpen ? found : { left: calls, endsAt: Date.now() + ttlMs };
      if (left === 0) return null;
      held.set(key, { left: left - 1, endsAt });
      return left - 1;
    },
    release: async (key) => {
      const found = held.get(key);
      if (found !== undefined) found.left += 1;
    },
  };
};
