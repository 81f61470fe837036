import { boundedMap } from '../../bounded-map.ts';
import type { Bill } from '../base/dialect.ts';
import type { PaywallStore } from '../base/store.ts';
import { createOwnQuotes } from './own-quotes.ts';
import { createStatuses, type ReadStatus } from './quote-statuses.ts';
import { childSlot, createSlots, rootOf, type SharedQuote, type Slots } from './slots.ts';

/**
 * Unpaid requests share one quote (docs/adr/0037). The API limits quotes per minute. With a quote
 * for each request, a loop of plain GETs would lock out every buyer.
 *
 * A quote is in a slot and is returned from it until it is paid. The slot of a bill serves
 * everybody. A paid quote opens `CHILDREN` further slots for the buyers who name it as refused. So
 * a new quote needs time or a payment, and no anonymous request can create one.
 *
 * Each payment also allows two quotes that are not shared, for buyers who ask within seconds of
 * another one. So the buyers of a route that sells do not compete for one quote, and who asks the
 * price alone costs none.
 */

/**
 * How long a quote is returned while the API creates no other. The last buyer has two minutes left.
 */
const EXTENDED_MS = 480_000;
/** How long the buyer who got the shared quote may be paying it. */
const PAYING_MS = 5000;
/** How long a process uses what it read from the store. */
const CACHED_MS = 1000;
/** How many buyers who were refused a quote get one of their own. Further ones share these. */
const CHILDREN = 8;
const MAX_ENTRIES = 1000;

type QuotesDeps = {
  /** A name for the bill and everything else in its quote. */
  nameOf: (bill: Bill) => Promise<string>;
  /** @param isEarned true if it replaces a quote that is being paid */
  create: (bill: Bill, isEarned: boolean) => Promise<SharedQuote>;
  readStatus: ReadStatus;
  store: PaywallStore;
  /** A quote of this address was paid. */
  onSale: (resource: string) => void;
  onError: (error: unknown) => void;
};

/** Detects a paid quote. Buyers with other clients do not report it. */
const recheck = async (
  slots: Slots,
  { statusOf }: ReturnType<typeof createStatuses>,
  name: string,
  quoteId: string,
): Promise<void> => {
  const { status } = await statusOf(quoteId);
  const found = status === 'pending' ? null : await slots.readMark(name, quoteId);
  if (found === null) return;
  if (status === 'settled') await slots.recordSettled(name, quoteId, found.text, found.mark);
  else await slots.clearSlot(found.mark.slot, quoteId);
};

/** The quotes that everybody gets, and who asked last for that of a bill. */
const createShared = (read: (name: string, bill: Bill) => Promise<SharedQuote>) => {
  const asked = boundedMap<{ at: number; quoteId?: string }>(MAX_ENTRIES);
  return {
    /** True if somebody may be paying the shared quote of a bill at the moment. */
    isContested: (name: string): boolean => Date.now() - (asked.get(name)?.at ?? 0) < PAYING_MS,
    ask: async (name: string, bill: Bill): Promise<SharedQuote> => {
      const one: { at: number; quoteId?: string } = { at: Date.now() };
      asked.set(name, one);
      const quote = await read(name, bill);
      one.quoteId = quote.quote_id;
      return quote;
    },
    paid: (name: string, quoteId: string): void => {
      if (asked.get(name)?.quoteId === quoteId) asked.delete(name);
    },
  };
};

/** The quotes of one paywall, shared with its replicas through the store. */
export const createQuotes = ({ nameOf, create, readStatus, store, onSale, onError }: QuotesDeps) => {
  const statuses = createStatuses(readStatus);
  const slots = createSlots(store);
  const ownQuotes = createOwnQuotes({ create, slots, onSale, onError });
  const reads = new Map<string, Promise<SharedQuote>>();
  /** The slot of a paid quote for the next buyer. */
  const turns = boundedMap<number>(MAX_ENTRIES);

  const make = async (name: string, slot: string, bill: Bill): Promise<SharedQuote> => {
    const last = slots.cachedIn(slot);
    let quote: SharedQuote;
    try {
      quote = await create(bill, slot !== rootOf(name) || slots.isEarned(slot));
    } catch (error) {
      if (last === undefined || Date.now() - last.firstAt > EXTENDED_MS) throw error;
      onError(error);
      return last.quote;
    }
    // If another replica was faster, its quote stays in the slot. This one serves the waiting
    // callers.
    await slots.fill(name, slot, quote);
    return quote;
  };

  const read = async (name: string, slot: string, bill: Bill): Promise<SharedQuote> => {
    const quote = await slots.read(slot);
    if (quote === null) return make(name, slot, bill);
    if (statuses.isDue(quote.quote_id)) void recheck(slots, statuses, name, quote.quote_id).catch(onError);
    return quote;
  };
  const quoteIn = async (name: string, slot: string, bill: Bill): Promise<SharedQuote> => {
    const last = slots.cachedIn(slot);
    if (last !== undefined && Date.now() - last.readAt < CACHED_MS) return last.quote;
    const pending = reads.get(slot) ?? read(name, slot, bill).finally(() => reads.delete(slot));
    reads.set(slot, pending);
    return pending;
  };

  const shared = createShared((name, bill) => quoteIn(name, rootOf(name), bill));

  /** The slot for a buyer who was refused a quote. Null: its payment is not decided yet. */
  const slotAfter = async (name: string, refused: string): Promise<string | null> => {
    const found = await slots.readMark(name, refused);
    if (found === null) return rootOf(name);
    const { text, mark } = found;
    if (mark.settled === undefined) {
      const { status, isStuck } = await statuses.statusOf(refused).catch((error: unknown) => {
        onError(error);
        return { status: 'pending' as const, isStuck: false };
      });
      if (status === 'pending') return mark.slot;
      if (status === 'settled') await slots.recordSettled(name, refused, text, mark);
      else await slots.clearSlot(mark.slot, refused);
      if (status === 'expired' || isStuck) return rootOf(name);
      if (status === 'settling') return null;
    }
    // Buyers who were refused at the same time are spread over the slots. Each replica starts at a
    // random one.
    const turn = turns.get(refused) ?? Math.floor(Math.random() * CHILDREN);
    turns.set(refused, (turn + 1) % CHILDREN);
    return childSlot(name, refused, turn);
  };

  return {
    /**
     * Returns a quote for this bill that is not known to be paid.
     * @param refused the quote that the buyer reports as paid by another
     * @returns null while its payment is being decided
     */
    offer: async (bill: Bill, refused: string | null): Promise<SharedQuote | null> => {
      const name = await nameOf(bill);
      if (refused !== null || shared.isContested(name)) {
        const own = await ownQuotes.next(name, bill);
        if (own !== null) return own;
      }
      if (refused === null) return shared.ask(name, bill);
      const slot = await slotAfter(name, refused);
      return slot === null ? null : quoteIn(name, slot, bill);
    },
    /**
     * A settlement of this quote was presented, so it is paid.
     * @returns whether this paywall has created the quote for exactly this bill
     */
    paid: async (bill: Bill, quoteId: string): Promise<boolean> => {
      const name = await nameOf(bill);
      const found = await slots.readMark(name, quoteId);
      if (found === null) return false;
      const { text, mark } = found;
      shared.paid(name, quoteId);
      if (mark.settled === undefined && (await slots.recordSettled(name, quoteId, text, mark)))
        ownQuotes.sold(name, bill);
      return true;
    },
  };
};
export type Quotes = ReturnType<typeof createQuotes>;
