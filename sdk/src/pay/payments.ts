import { ApiError, PaidElsewhereError } from '../errors.ts';
import { resourceOf } from '../resource.ts';
import type { Paid, ReadSettlement, Settle } from '../settle.ts';
import { type QuoteClaims, storedClaims } from '../tokens.ts';
import { type Budget, createLedger } from './budget.ts';
import type { Call } from './call.ts';
import { NotAllowedError, QuoteTakenError } from './errors.ts';
import { isPrepaid } from './rules.ts';
import { createSettlementReader } from './settlement-reader.ts';
import type { PaymentRecord, PaymentStore } from './store.ts';

type PaymentsDeps = {
  settle: Settle;
  read: ReadSettlement;
  /** Throws if this quote must not be paid for this address. */
  check: (quote: QuoteClaims, url: string) => void;
  budget: Budget;
  approve: (quote: QuoteClaims, call: { method: string; url: string }) => boolean | Promise<boolean>;
  store: PaymentStore;
};

/** A verified quote, and the address that it is paid for. */
export type Bill = { quote: QuoteClaims; quoteToken: string; url: string };

const MAX_QUOTES = 1000;
const TAKEN = 'quote_already_settled';

const prepaidName = (url: string): string => `prepaid:${resourceOf(url)}`;

/** Buys, and stores what was bought. Names are those of the store. */
export const createPayments = ({ settle, read, check, budget, approve, store }: PaymentsDeps) => {
  const ledger = createLedger(budget);
  const settlements = createSettlementReader(read);
  /** The records in use by calls of this process. A concurrent equal call uses another record. */
  const claimed = new Set<string>();
  /**
   * The record of this process that pays a quote. Vendors give one quote to many callers, and each
   * call buys for itself.
   */
  const payers = new Map<string, string>();

  const recordPayer = (quote: QuoteClaims, id: string): void => {
    if (payers.size >= MAX_QUOTES) payers.delete(payers.keys().next().value!);
    payers.set(quote.quote_id, id);
  };
  /** Removes a record that has not paid the quote and will not. */
  const giveUp = async (name: string, { id }: PaymentRecord, quote: QuoteClaims): Promise<void> => {
    if (payers.get(quote.quote_id) === id) payers.delete(quote.quote_id);
    ledger.release(id);
    await store.remove(name, id);
  };

  /**
   * Adopts the payment of another attempt of the account for this quote, perhaps of a process that
   * died.
   */
  const adopt = async (record: PaymentRecord, call: Call, paid: Paid): Promise<PaymentRecord> => {
    const { settlement_id, settlement_token, payment_attempt_id } = paid;
    const isBundle = isPrepaid(storedClaims(record.quoteToken!));
    // If the payer is alive, it presents the payment within moments. Using it here would leave the
    // payer without a delivery.
    if (!isBundle) await settlements.untilRedeemed(settlement_id, call.signal);
    ledger.release(record.id);
    // A read with the payer's own request id gets the payer's answer again. No other delivery is
    // used for this call.
    const isRead = call.method === 'GET' || call.method === 'HEAD';
    const adopted = { requestId: isRead && !isBundle ? payment_attempt_id : record.id };
    return { ...record, settlement: { settlement_id, settlement_token }, paidAt: Date.now(), adopted };
  };

  const pay = async (name: string, record: PaymentRecord, call: Call): Promise<PaymentRecord> => {
    const quote_token = record.quoteToken!;
    const quote = storedClaims(quote_token);
    const { signal } = call;
    try {
      const paid = await settle(
        { quote_token, payment_attempt_id: record.id },
        signal === undefined ? {} : { signal },
      );
      const { settlement_id, settlement_token } = paid;
      let settled: PaymentRecord = {
        ...record,
        settlement: { settlement_id, settlement_token },
        paidAt: Date.now(),
      };
      if (paid.payment_attempt_id === record.id) ledger.spend(record.id);
      else settled = await adopt(record, call, paid);
      await store.save(name, settled);
      if (isPrepaid(quote)) await store.save(prepaidName(record.url), settled);
      return settled;
    } catch (error) {
      // Without an explicit "no" it may have been paid, so the hold and the record stay.
      if (!(error instanceof ApiError) || error.moneyMoved !== 'no') throw error;
      await giveUp(name, record, quote);
      throw error.code === TAKEN ? new QuoteTakenError(quote) : error;
    }
  };

  /** Removes a prepaid settlement that is used up. */
  const dropPrepaid = async (url: string, settlementId: string): Promise<void> => {
    const name = prepaidName(url);
    for (const { id, settlement } of await store.load(name))
      if (settlement?.settlement_id === settlementId) await store.remove(name, id);
  };

  return {
    /**
     * Returns the leftover record of an equal request or of the same key, or a new one that is not
     * stored yet.
     */
    claim: async (name: string, { fingerprint, url }: Call): Promise<PaymentRecord> => {
      const left = (await store.load(name)).find(({ id }) => !claimed.has(id));
      const fresh = {
        id: crypto.randomUUID(),
        fingerprint,
        url,
        quoteToken: null,
        settlement: null,
        paidAt: null,
      };
      const record = left ?? fresh;
      claimed.add(record.id);
      return record;
    },
    unclaim: (id: string): void => {
      claimed.delete(id);
    },
    /** Removes an adopted settlement whose delivery went to another request. */
    disown: async (name: string, record: PaymentRecord): Promise<never> => {
      const quote = storedClaims(record.quoteToken!);
      await dropPrepaid(record.url, record.settlement!.settlement_id);
      await giveUp(name, record, quote);
      throw new QuoteTakenError(quote);
    },
    keep: (name: string, record: PaymentRecord) => store.save(name, record),
    remove: (name: string, record: PaymentRecord) => store.remove(name, record.id),

    /**
     * Pays a verified quote for this address. The record is stored before anything is sent.
     * @throws QuoteTakenError if another buyer pays it
     */
    buy: async (
      name: string,
      record: PaymentRecord,
      call: Call,
      { quote, quoteToken, url }: Bill,
    ): Promise<PaymentRecord> => {
      check(quote, url);
      if ((payers.get(quote.quote_id) ?? record.id) !== record.id) throw new QuoteTakenError(quote);
      recordPayer(quote, record.id);
      // Its hold for the previous quote may have another amount.
      ledger.release(record.id);
      const { adopted: _, ...own } = record;
      const begun = { ...own, url, quoteToken, settlement: null, paidAt: null };
      try {
        ledger.reserve(record.id, new URL(url).origin, quote);
        if (!(await approve(quote, { method: call.method, url })))
          throw new NotAllowedError('the payment was not approved', quote);
        call.signal?.throwIfAborted();
        await store.save(name, begun);
      } catch (error) {
        ledger.release(record.id);
        payers.delete(quote.quote_id);
        throw error;
      }
      try {
        return await pay(name, begun, call);
      } catch (error) {
        // This call's own attempt was refused because of another one, so it has not paid. The
        // record continues with the next quote.
        const isTaken = error instanceof PaidElsewhereError && (error.cause as ApiError).code === TAKEN;
        throw isTaken ? new QuoteTakenError(quote, error) : error;
      }
    },

    /**
     * Continues a payment with an unknown outcome. Null if it was not made and never will be.
     */
    resume: async (name: string, record: PaymentRecord, call: Call): Promise<PaymentRecord | null> => {
      const quote = storedClaims(record.quoteToken!);
      check(quote, record.url);
      // Only the API knows the outcome of this attempt, whatever another call does with the quote.
      recordPayer(quote, record.id);
      ledger.reserve(record.id, new URL(record.url).origin, quote);
      try {
        return await pay(name, record, call);
      } catch (error) {
        if (error instanceof ApiError && error.moneyMoved === 'no') return null;
        throw error;
      }
    },

    /**
     * True if a record's payment has units left. The API answers, because a vendor would profit
     * from a "no".
     */
    hasUnits: async ({ quoteToken, settlement }: PaymentRecord): Promise<boolean> => {
      if (quoteToken !== null && !isPrepaid(storedClaims(quoteToken))) return false;
      return settlements.hasUnits(settlement!.settlement_id);
    },
    /** The prepaid settlement of this address, if one was bought. */
    prepaid: async (url: string): Promise<PaymentRecord | null> =>
      (await store.load(prepaidName(url))).at(-1) ?? null,
    dropPrepaid,
  };
};
export type Payments = ReturnType<typeof createPayments>;
