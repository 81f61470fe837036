import type { Left } from '../base/authorizations.ts';
import type { PaywallStore } from '../base/store.ts';

/**
 * How much of the ceiling of a tab is in its number, in the store of the replicas. A number is of
 * the ceiling that it was filled with. Each extension is a record at the ceiling before it, written
 * in the same step in which the number grows. So it counts once, whoever sees it and however often.
 */
const rootOf = (key: string): string => `${key}:ceiling`;
const extensionOf = (key: string, ceiling: bigint): string => `${key}:ceiling:${ceiling}`;
const guardOf = (key: string): string => `${key}:fill`;

/** Of which nothing can be taken, and to which nothing is given back. */
const CLOSED = '-1';

/** What the number of a tab is of. */
type Counted = { ceiling: bigint; extensions: number };

/** @param counterOf the key of the number of a tab */
export const createCeilings = (store: PaywallStore, counterOf: (key: string) => string) => ({
  /** Writes the number of a tab that the store does not have, and its ceiling, in one step. */
  fill: async (key: string, { left, ceiling }: Left, ttlMs: number): Promise<void> => {
    await store.compareAndSet(guardOf(key), null, '0', ttlMs);
    const filled = await store.take!(guardOf(key), 0n, [
      { key: counterOf(key), value: left, ttlMs },
      { key: rootOf(key), value: String(ceiling), ttlMs },
    ]);
    // If the store has lost the number and kept its ceiling, nobody knows what the number was of.
    if (filled === 'held') await store.compareAndSet(counterOf(key), null, CLOSED, ttlMs);
  },
  /** What the number is of. Null: a number without records, as a route without top-up fills it. */
  read: async (key: string): Promise<Counted | null> => {
    let text = await store.get(rootOf(key));
    if (text === null) return null;
    for (let extensions = 0; ; extensions += 1) {
      const next = await store.get(extensionOf(key, BigInt(text)));
      if (next === null) return { ceiling: BigInt(text), extensions };
      text = next;
    }
  },
  /** Adds an extension to the number, unless that was done. */
  extend: async (key: string, from: bigint, to: bigint, ttlMs: number): Promise<void> => {
    await store.take!(counterOf(key), from - to, [{ key: extensionOf(key, from), value: String(to), ttlMs }]);
  },
});
export type Ceilings = ReturnType<typeof createCeilings>;
