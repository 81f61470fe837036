import { type QuoteClaims, storedClaims } from '../../checks/tokens.ts';
import { type ApiError, PaidElsewhereError } from '../../errors.ts';
import type { ReadSettlement, Settle } from '../../settle.ts';
import type { Ledger } from '../base/budget.ts';
import type { Call } from '../base/call.ts';
import type { AskedPayment } from '../base/dialects.ts';
import { NotAllowedError, QuoteTakenError } from '../base/errors.ts';
import { createPayers, type Payers } from '../base/payers.ts';
import type { Approve } from '../base/price.ts';
import type { Receipt } from '../base/receipt.ts';
import { isAuthorization, isForMany } from '../base/rules.ts';
import type { PaymentRecord, PaymentStore } from '../base/store.ts';
import { createAttempts, isRefusedForGood, TAKEN } from './attempts.ts';
import { createExtensions } from './extensions.ts';
import type { Prepaid } from './prepaid.ts';
import { createSettlementReader, type SettlementReader } from './settlement-reader.ts';
import type { Tabs } from './tabs.ts';

type PaymentsDeps = {
  settle: Settle;
  read: ReadSettlement;
  /** Throws if this quote must not be paid for this address. */
  check: (quote: QuoteClaims, url: string, maxAmount: bigint | undefined) => void;
  /** As `check`, for a quote that extends the ceiling of a tab. */
  checkExtension: (quote: QuoteClaims, url: string, maxAmount: bigint | undefined) => void;
  ledger: Ledger;
  approve: Approve;
  store: PaymentStore;
  prepaid: Prepaid;
  tabs: Tabs;
  /** Called after each payment. */
  paid: (receipt: Receipt) => void;
};

/** A verified quote, and the address that it is paid for. */
export type Bill = AskedPayment & { quote: QuoteClaims; url: string };

/** Gives each call a record of its own. A concurrent equal call gets another record. */
const createClaims = (store: PaymentStore) => {
  const claimed = new Set<string>();
  return {
    /**
     * Returns the leftover record of an equal request or of the same key, or a new one that is not
     * stored yet.
     */
    claim: async (name: string, { fingerprint, url }: Call): Promise<PaymentRecord> => {
      const left = (await store.load(name)).find(({ id }) => !claimed.has(id));
      const unpaid = { quoteToken: null, settlement: null, paidAt: null };
      const record = left ?? { id: crypto.randomUUID(), fingerprint, url, ...unpaid };
      claimed.add(record.id);
      return record;
    },
    unclaim: (id: string): void => {
      claimed.delete(id);
    },
  };
};

/** Keeps and removes the records of requests. */
const createRecords = (store: PaymentStore) => {
  const keep = async (name: string, { unsaved: _, ...record }: PaymentRecord): Promise<void> =>
    store.save(name, record);
  const remove = async (name: string, { id, unsaved }: PaymentRecord): Promise<void> => {
    if (unsaved !== true) await store.remove(name, id);
  };
  return {
    keep,
    remove,
    /** Removes the record of a request with its last answer. Otherwise an equal one needs it. */
    conclude: async (name: string, record: PaymentRecord, isLast: boolean): Promise<void> => {
      if (!isLast && record.unsaved === true) return keep(name, record);
      try {
        if (isLast) await remove(name, record);
      } catch {
        // The delivery is returned nevertheless. The leftover record is presented once more and
        // buys nothing.
      }
    },
  };
};

/** Reserves an amount, of the budget that is left when what has ended is counted. */
const createReserve =
  ({ ledger, tabs }: PaymentsDeps) =>
  async (...held: Parameters<Ledger['reserve']>): Promise<void> => {
    try {
      ledger.reserve(...held);
    } catch (error) {
      if (!(await tabs.refresh())) throw error;
      ledger.reserve(...held);
    }
  };

/** Reserves the amount and stores the record that pays, before anything is sent. */
const createBegin = (deps: PaymentsDeps, payers: Payers) => {
  const { check, ledger, approve, store, tabs } = deps;
  const reserve = createReserve(deps);
  return async (
    name: string,
    { adopted: _, ...own }: PaymentRecord,
    call: Call,
    { quote, quoteToken, isRepeatable, url }: Bill,
  ): Promise<PaymentRecord> => {
    check(quote, url, call.maxAmount);
    payers.refuseTaken(quote, own.id);
    payers.set(quote, own.id);
    // Its hold for the previous quote may have another amount.
    ledger.release(own.id);
    const unpaid = { url, quoteToken, settlement: null, paidAt: null };
    const begun = { ...own, ...unpaid, ...(isRepeatable && { repeatable: true as const }) };
    try {
      if (isAuthorization(quote)) await tabs.makeRoom(own.id, quote, call);
      await reserve(own.id, new URL(url).origin, quote);
      if (!(await (call.approve ?? approve)(quote, { method: call.method, url })))
        throw new NotAllowedError('the payment was not approved', quote);
      call.signal?.throwIfAborted();
      await store.save(name, begun);
      return begun;
    } catch (error) {
      ledger.release(own.id);
      tabs.cancel(own.id);
      payers.delete(quote, own.id);
      throw error;
    }
  };
};

/** What is left of a payment. The API answers, because a vendor would profit from a "no". */
const createStates = (settlements: SettlementReader) => ({
  /** True if it has units left. */
  hasUnits: async ({ quoteToken, settlement }: PaymentRecord): Promise<boolean> => {
    if (quoteToken !== null && !isForMany(storedClaims(quoteToken))) return false;
    return settlements.hasUnits(settlement!.settlement_id);
  },
  isUntouched: settlements.isUntouched,
});

const ofTabs = ({ answered, leave, end }: Tabs) => ({ answered, leaveTab: leave, endTab: end });

/** Buys, and stores what was bought. Names are those of the store. */
export const createPayments = (deps: PaymentsDeps) => {
  const { settle, read, check, ledger, store, prepaid, tabs, paid } = deps;
  const settlements = createSettlementReader(read);
  const payers = createPayers();
  const begin = createBegin(deps, payers);
  const { pay, giveUp } = createAttempts({ settle, settlements, ledger, payers, prepaid, tabs, store, paid });

  return {
    ...createClaims(store),
    ...createRecords(store),
    /** Removes an adopted settlement whose delivery went to another request. */
    disown: async (name: string, record: PaymentRecord): Promise<never> => {
      const quote = storedClaims(record.quoteToken!);
      await prepaid.drop(record.url, record.settlement!.settlement_id);
      await giveUp(name, record, quote);
      throw new QuoteTakenError(quote);
    },

    /**
     * Pays a verified quote for this address. The record is stored before anything is sent.
     * @throws QuoteTakenError if another buyer pays it
     */
    buy: async (name: string, record: PaymentRecord, call: Call, bill: Bill): Promise<PaymentRecord> => {
      const begun = await begin(name, record, call, bill);
      try {
        return await pay(name, begun, call, record.quoteToken === null);
      } catch (error) {
        // This call's own attempt was refused because of another one, so it has not paid. The
        // record continues with the next quote.
        const isTaken = error instanceof PaidElsewhereError && (error.cause as ApiError).code === TAKEN;
        throw isTaken ? new QuoteTakenError(bill.quote, error) : error;
      }
    },

    /**
     * Continues a payment with an unknown outcome. Null if it was not made and never will be.
     */
    resume: async (name: string, record: PaymentRecord, call: Call): Promise<PaymentRecord | null> => {
      const quote = storedClaims(record.quoteToken!);
      check(quote, record.url, call.maxAmount);
      // Only the API knows the outcome of this attempt, whatever another call does with the quote.
      payers.set(quote, record.id);
      ledger.reserve(record.id, new URL(record.url).origin, quote);
      try {
        return await pay(name, record, call);
      } catch (error) {
        if (isRefusedForGood(error)) return null;
        throw error;
      }
    },
    ...createStates(settlements),
    /**
     * Ends the record of a request whose vendor has released its authorization, for instance
     * because the handler has failed.
     * @returns false if it has not
     */
    endReleased: async (name: string, record: PaymentRecord): Promise<boolean> => {
      const { quoteToken, settlement } = record;
      if (quoteToken === null || !isAuthorization(storedClaims(quoteToken))) return false;
      if (!(await settlements.isVoid(settlement!.settlement_id))) return false;
      await tabs.leave(record);
      await giveUp(name, record, storedClaims(quoteToken));
      return true;
    },
    ...createExtensions(deps),
    ...ofTabs(tabs),
    prepaid: prepaid.find,
    dropPrepaid: prepaid.drop,
  };
};
export type Payments = ReturnType<typeof createPayments>;
