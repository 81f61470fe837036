import { ApiError } from '../errors.ts';
import { resourceOf } from '../resource.ts';
import type { Settle } from '../settle.ts';
import { type QuoteClaims, storedClaims } from '../tokens.ts';
import { type Budget, createLedger } from './budget.ts';
import type { Call } from './call.ts';
import { NotAllowedError } from './errors.ts';
import { isPrepaid } from './rules.ts';
import type { PaymentRecord, PaymentStore } from './store.ts';

export type PaymentsDeps = {
  settle: Settle;
  /** Throws when this quote is not to be paid for this address. */
  check: (quote: QuoteClaims, url: string) => void;
  budget: Budget;
  approve: (quote: QuoteClaims, call: { method: string; url: string }) => boolean | Promise<boolean>;
  store: PaymentStore;
};

const prepaidName = (url: string): string => `prepaid:${resourceOf(url)}`;

/** Buying, and remembering what was bought. Names are those of the store. */
export const createPayments = ({ settle, check, budget, approve, store }: PaymentsDeps) => {
  const ledger = createLedger(budget);
  /** Records that a call of this process works on: an equal call at once takes another. */
  const claimed = new Set<string>();

  const pay = async (name: string, record: PaymentRecord, call: Call): Promise<PaymentRecord> => {
    const quote_token = record.quoteToken!;
    const { signal } = call;
    try {
      const { settlement_id, settlement_token } = await settle(
        { quote_token, payment_attempt_id: record.id },
        signal === undefined ? {} : { signal },
      );
      ledger.spend(record.id);
      const settled = { ...record, settlement: { settlement_id, settlement_token }, paidAt: Date.now() };
      await store.save(name, settled);
      if (isPrepaid(storedClaims(quote_token))) await store.save(prepaidName(record.url), settled);
      return settled;
    } catch (error) {
      // Without a clear "no" it may have been paid: the hold stays, and the record leads to the answer.
      if (error instanceof ApiError && error.moneyMoved === 'no') {
        ledger.release(record.id);
        await store.remove(name, record.id);
      }
      throw error;
    }
  };

  return {
    /** What an equal request, or one with the same key, left behind; else a new one that is not kept yet. */
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
    keep: (name: string, record: PaymentRecord) => store.save(name, record),
    remove: (name: string, record: PaymentRecord) => store.remove(name, record.id),

    /** Pays a verified quote for this address. The record is kept before anything is sent. */
    buy: async (
      name: string,
      record: PaymentRecord,
      call: Call,
      { quote, quoteToken, url }: { quote: QuoteClaims; quoteToken: string; url: string },
    ): Promise<PaymentRecord> => {
      check(quote, url);
      ledger.reserve(record.id, new URL(url).origin, quote);
      const begun = { ...record, url, quoteToken, settlement: null, paidAt: null };
      try {
        if (!(await approve(quote, { method: call.method, url })))
          throw new NotAllowedError('the payment was not approved', quote);
        call.signal?.throwIfAborted();
        await store.save(name, begun);
      } catch (error) {
        ledger.release(record.id);
        throw error;
      }
      return pay(name, begun, call);
    },

    /** Goes on with a payment that was begun and whose end is not known. Null: it was not made and never will be. */
    resume: async (name: string, record: PaymentRecord, call: Call): Promise<PaymentRecord | null> => {
      const quote = storedClaims(record.quoteToken!);
      check(quote, record.url);
      ledger.reserve(record.id, new URL(record.url).origin, quote);
      try {
        return await pay(name, record, call);
      } catch (error) {
        if (error instanceof ApiError && error.moneyMoved === 'no') return null;
        throw error;
      }
    },

    /** The prepaid settlement that serves this address, if one was bought. */
    prepaid: async (url: string): Promise<PaymentRecord | null> =>
      (await store.load(prepaidName(url))).at(-1) ?? null,
    /** It serves no more. */
    dropPrepaid: async (url: string, settlementId: string): Promise<void> => {
      const name = prepaidName(url);
      for (const { id, settlement } of await store.load(name))
        if (settlement?.settlement_id === settlementId) await store.remove(name, id);
    },
  };
};
export type Payments = ReturnType<typeof createPayments>;
