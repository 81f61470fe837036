import { boundedMap } from '../../bounded-map.ts';
import type { Output } from '../../types.ts';
import type { PaywallStore } from '../base/store.ts';

export type SharedQuote = Output<'quote.create'>;

/** How long a quote can be paid. */
export const QUOTE_LIFE_SECONDS = 900;
const LIFE_MS = QUOTE_LIFE_SECONDS * 1000;
/** How long a quote is returned. The last buyer who gets it has ten minutes left. */
const HANDED_OUT_MS = 300_000;
const MAX_ENTRIES = 1000;

/**
 * The store has one for each quote of this paywall. It proves for which bill the quote was created.
 */
type Mark = { slot: string; settled?: true };

/** The slot of a bill, for all buyers that were not refused a quote. */
export const rootOf = (name: string): string => `quote:${name}`;
const markKey = (name: string, quoteId: string): string => `quote:${name}:${quoteId}`;
/** A further slot of a paid quote. */
export const childSlot = (name: string, quoteId: string, child: number): string =>
  `${markKey(name, quoteId)}:${child}`;

/** The slots of a paywall's quotes and the marks of those quotes, in the store of the replicas. */
export const createSlots = (store: PaywallStore) => {
  /** The slots' content when this process read them last. */
  const cached = boundedMap<{ quote: SharedQuote; readAt: number; firstAt: number }>(MAX_ENTRIES);
  /** Quotes that this process has removed. A read that began before may still return one. */
  const removed = boundedMap<true>(MAX_ENTRIES);
  /** Slots whose last quote was paid. */
  const earned = boundedMap<true>(MAX_ENTRIES);

  const readMark = async (name: string, quoteId: string): Promise<{ text: string; mark: Mark } | null> => {
    const text = await store.get(markKey(name, quoteId));
    return text === null ? null : { text, mark: JSON.parse(text) as Mark };
  };
  /** Stops returning a quote that is being paid. */
  const clearSlot = async (slot: string, quoteId: string): Promise<void> => {
    removed.set(quoteId, true);
    if (cached.get(slot)?.quote.quote_id === quoteId) cached.delete(slot);
    const text = await store.get(slot);
    if (text === null || (JSON.parse(text) as SharedQuote).quote_id !== quoteId) return;
    if (await store.compareAndSet(slot, text, null, 0)) earned.set(slot, true);
  };
  /** @returns false if another caller has recorded it */
  const recordSettled = async (name: string, quoteId: string, text: string, paid: Mark): Promise<boolean> => {
    await clearSlot(paid.slot, quoteId);
    const settled: Mark = { ...paid, settled: true };
    return store.compareAndSet(markKey(name, quoteId), text, JSON.stringify(settled), LIFE_MS);
  };
  /** Records that a quote was created for this bill. */
  const mark = async (name: string, slot: string, { quote_id }: SharedQuote): Promise<void> => {
    const created: Mark = { slot };
    await store.compareAndSet(markKey(name, quote_id), null, JSON.stringify(created), LIFE_MS);
  };

  return {
    readMark,
    clearSlot,
    recordSettled,
    mark,
    /** True if the slot's last quote was paid. */
    isEarned: (slot: string): boolean => earned.has(slot),
    /** What this process has read last. */
    cachedIn: (slot: string) => cached.get(slot),
    /** The quote in a slot, or null. */
    read: async (slot: string): Promise<SharedQuote | null> => {
      const text = await store.get(slot);
      if (text === null) return null;
      const quote = JSON.parse(text) as SharedQuote;
      if (removed.has(quote.quote_id)) return null;
      const now = Date.now();
      const last = cached.get(slot);
      const firstAt = last?.quote.quote_id === quote.quote_id ? last.firstAt : now;
      cached.set(slot, { quote, readAt: now, firstAt });
      return quote;
    },
    /** Puts a new quote into an empty slot, unless another replica was faster. */
    fill: async (name: string, slot: string, quote: SharedQuote): Promise<void> => {
      earned.delete(slot);
      await mark(name, slot, quote);
      if (!(await store.compareAndSet(slot, null, JSON.stringify(quote), HANDED_OUT_MS))) return;
      const now = Date.now();
      cached.set(slot, { quote, readAt: now, firstAt: now });
    },
  };
};
export type Slots = ReturnType<typeof createSlots>;
