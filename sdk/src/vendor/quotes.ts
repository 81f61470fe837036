import type { Output } from '../types.ts';
import type { Bill } from './dialect.ts';
import type { PaywallStore } from './store.ts';

/**
 * Unpaid requests share one quote (docs/adr/0037). The API limits quotes per minute. With a quote
 * for each request, a loop of plain GETs would lock out every buyer.
 *
 * A quote is in a slot and is returned from it until it is paid. The slot of a bill serves
 * everybody. A paid quote opens `CHILDREN` further slots for the buyers who name it as refused. So
 * a new quote needs time or a payment, and no anonymous request can create one.
 */
export type SharedQuote = Output<'quote.create'>;
export type QuoteStatus = Output<'quote.get'>['status'];

/**
 * The store has one for each quote of this paywall. It proves for which bill the quote was created.
 */
type Mark = { slot: string; settled?: true };

/** How long a quote can be paid. */
export const QUOTE_LIFE_SECONDS = 900;
const LIFE_MS = QUOTE_LIFE_SECONDS * 1000;
/** How long a quote is returned. The last buyer who gets it has ten minutes left. */
const HANDED_OUT_MS = 300_000;
/** The same while the API creates no other. The last buyer has two minutes left. */
const EXTENDED_MS = 480_000;
/** How long a process uses what it read from the store. */
const CACHED_MS = 1000;
/** How many buyers who were refused a quote get one of their own. Further ones share these. */
const CHILDREN = 8;
/** The pause between two reads of a quote that buyers name. It doubles while nobody has paid. */
const READ_GAP_MS = 1000;
const LONGEST_READ_GAP_MS = 4000;
/**
 * The pause between two reads of one shared quote, and between two reads of any of them.
 */
const RECHECK_MS = 5000;
const RECHECK_ANY_MS = 2000;
/** A payment that takes longer may never be made. Waiting buyers then get the shared quote. */
const STUCK_AFTER_MS = 5000;
const MAX_ENTRIES = 1000;

export type QuotesDeps = {
  /** A name for the bill and everything else in its quote. */
  nameOf: (bill: Bill) => Promise<string>;
  /** @param isEarned true if it replaces a quote that is being paid */
  create: (bill: Bill, isEarned: boolean) => Promise<SharedQuote>;
  readStatus: (quoteId: string) => Promise<QuoteStatus>;
  store: PaywallStore;
  onError: (error: unknown) => void;
};

/** A map that drops its oldest entry. */
const bounded = <V>() => {
  const held = new Map<string, V>();
  return {
    get: (key: string) => held.get(key),
    delete: (key: string) => held.delete(key),
    set: (key: string, value: V) => {
      held.delete(key);
      if (held.size >= MAX_ENTRIES) held.delete(held.keys().next().value!);
      held.set(key, value);
    },
  };
};

/** Reads the status of quotes. Reads are few, because anybody can name a quote. */
const createStatuses = (readStatus: QuotesDeps['readStatus']) => {
  type Seen = { at: number; gapMs: number; pendingSince: number | null; answer: Promise<QuoteStatus> };
  const seen = bounded<Seen>();
  let recheckedAt = 0;

  const statusOf = async (quoteId: string): Promise<{ status: QuoteStatus; isStuck: boolean }> => {
    const now = Date.now();
    let entry = seen.get(quoteId);
    if (entry === undefined || now - entry.at >= entry.gapMs) {
      const gapMs = entry === undefined ? READ_GAP_MS : Math.min(LONGEST_READ_GAP_MS, entry.gapMs * 2);
      entry = { at: now, gapMs, pendingSince: entry?.pendingSince ?? null, answer: readStatus(quoteId) };
      seen.set(quoteId, entry);
    }
    const status = await entry.answer;
    if (status === 'settling') {
      entry.gapMs = READ_GAP_MS;
      entry.pendingSince ??= now;
    } else entry.pendingSince = null;
    const isStuck = entry.pendingSince !== null && now - entry.pendingSince >= STUCK_AFTER_MS;
    return { status, isStuck };
  };
  /** True if the status of a shared quote is due to be read again. */
  const isDue = (quoteId: string): boolean => {
    const now = Date.now();
    const entry = seen.get(quoteId);
    if (now - recheckedAt < RECHECK_ANY_MS || (entry !== undefined && now - entry.at < RECHECK_MS))
      return false;
    recheckedAt = now;
    return true;
  };
  return { statusOf, isDue };
};

/** The quotes of one paywall, shared with its replicas through the store. */
export const createQuotes = ({ nameOf, create, readStatus, store, onError }: QuotesDeps) => {
  const statuses = createStatuses(readStatus);
  const reads = new Map<string, Promise<SharedQuote>>();
  /** The slots' content when this process read them last. */
  const cached = bounded<{ quote: SharedQuote; readAt: number; firstAt: number }>();
  /** Slots whose last quote was paid. */
  const earned = bounded<true>();
  /** The slot of a paid quote for the next buyer. */
  const turns = bounded<number>();

  const rootOf = (name: string): string => `quote:${name}`;
  const markKey = (name: string, quoteId: string): string => `quote:${name}:${quoteId}`;
  const readMark = async (key: string): Promise<{ text: string; mark: Mark } | null> => {
    const text = await store.get(key);
    return text === null ? null : { text, mark: JSON.parse(text) as Mark };
  };

  /** Stops returning a quote that is being paid. */
  const clearSlot = async (slot: string, quoteId: string): Promise<void> => {
    if (cached.get(slot)?.quote.quote_id === quoteId) cached.delete(slot);
    const text = await store.get(slot);
    if (text === null || (JSON.parse(text) as SharedQuote).quote_id !== quoteId) return;
    if (await store.compareAndSet(slot, text, null, 0)) earned.set(slot, true);
  };
  const recordSettled = async (name: string, quoteId: string, text: string, mark: Mark): Promise<void> => {
    await clearSlot(mark.slot, quoteId);
    const settled: Mark = { ...mark, settled: true };
    await store.compareAndSet(markKey(name, quoteId), text, JSON.stringify(settled), LIFE_MS);
  };

  /** Detects a paid quote. Buyers with other clients do not report it. */
  const recheck = async (name: string, quoteId: string): Promise<void> => {
    const { status } = await statuses.statusOf(quoteId);
    const found = status === 'pending' ? null : await readMark(markKey(name, quoteId));
    if (found === null) return;
    if (status === 'settled') await recordSettled(name, quoteId, found.text, found.mark);
    else await clearSlot(found.mark.slot, quoteId);
  };

  const make = async (name: string, slot: string, bill: Bill): Promise<SharedQuote> => {
    const last = cached.get(slot);
    let quote: SharedQuote;
    try {
      quote = await create(bill, slot !== rootOf(name) || earned.get(slot) === true);
      earned.delete(slot);
    } catch (error) {
      if (last === undefined || Date.now() - last.firstAt > EXTENDED_MS) throw error;
      onError(error);
      return last.quote;
    }
    const mark: Mark = { slot };
    await store.compareAndSet(markKey(name, quote.quote_id), null, JSON.stringify(mark), LIFE_MS);
    // If another replica was faster, the store keeps its quote. This one serves the waiting
    // callers.
    if (await store.compareAndSet(slot, null, JSON.stringify(quote), HANDED_OUT_MS)) {
      const now = Date.now();
      cached.set(slot, { quote, readAt: now, firstAt: now });
    }
    return quote;
  };

  const read = async (name: string, slot: string, bill: Bill): Promise<SharedQuote> => {
    const text = await store.get(slot);
    if (text === null) return make(name, slot, bill);
    const quote = JSON.parse(text) as SharedQuote;
    const now = Date.now();
    const near = cached.get(slot);
    const firstAt = near?.quote.quote_id === quote.quote_id ? near.firstAt : now;
    cached.set(slot, { quote, readAt: now, firstAt });
    if (statuses.isDue(quote.quote_id)) void recheck(name, quote.quote_id).catch(onError);
    return quote;
  };
  const quoteIn = async (name: string, slot: string, bill: Bill): Promise<SharedQuote> => {
    const near = cached.get(slot);
    if (near !== undefined && Date.now() - near.readAt < CACHED_MS) return near.quote;
    const pending = reads.get(slot) ?? read(name, slot, bill).finally(() => reads.delete(slot));
    reads.set(slot, pending);
    return pending;
  };

  /** The slot for a buyer who was refused a quote. Null: its payment is not decided yet. */
  const slotAfter = async (name: string, refused: string): Promise<string | null> => {
    const found = await readMark(markKey(name, refused));
    if (found === null) return rootOf(name);
    const { text, mark } = found;
    if (mark.settled === undefined) {
      const { status, isStuck } = await statuses.statusOf(refused).catch((error: unknown) => {
        onError(error);
        return { status: 'pending' as const, isStuck: false };
      });
      if (status === 'pending') return mark.slot;
      if (status === 'settled') await recordSettled(name, refused, text, mark);
      else await clearSlot(mark.slot, refused);
      if (status === 'expired' || isStuck) return rootOf(name);
      if (status === 'settling') return null;
    }
    // Buyers who were refused at the same time are spread over the slots. Each replica starts at a
    // random one.
    const turn = turns.get(refused) ?? Math.floor(Math.random() * CHILDREN);
    turns.set(refused, (turn + 1) % CHILDREN);
    return `${markKey(name, refused)}:${turn}`;
  };

  return {
    /**
     * Returns a quote for this bill that is not known to be paid.
     * @param refused the quote that the buyer reports as paid by another
     * @returns null while its payment is being decided
     */
    offer: async (bill: Bill, refused: string | null): Promise<SharedQuote | null> => {
      const name = await nameOf(bill);
      const slot = refused === null ? rootOf(name) : await slotAfter(name, refused);
      return slot === null ? null : quoteIn(name, slot, bill);
    },
    /** A settlement of this quote was presented, so it is paid. */
    paid: async (bill: Bill, quoteId: string): Promise<void> => {
      const name = await nameOf(bill);
      const found = await readMark(markKey(name, quoteId));
      if (found !== null && found.mark.settled === undefined)
        await recordSettled(name, quoteId, found.text, found.mark);
    },
  };
};
