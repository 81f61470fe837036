import { ApiError } from '../errors.ts';
import type { Paid, Settle } from '../settle.ts';
import { type QuoteClaims, storedClaims } from '../tokens.ts';
import type { Ledger } from './budget.ts';
import type { Call } from './call.ts';
import { QuoteTakenError } from './errors.ts';
import type { Payers } from './payers.ts';
import type { Prepaid } from './prepaid.ts';
import { type Receipt, receiptIn } from './receipt.ts';
import { isPrepaid } from './rules.ts';
import type { SettlementReader } from './settlement-reader.ts';
import type { PaymentRecord, PaymentStore } from './store.ts';

/** The error code of a quote that another attempt pays or has paid. */
export const TAKEN = 'quote_already_settled';

/** The owner must approve this attempt first. It can continue. */
const isAwaiting = ({ safeAction }: ApiError): boolean => safeAction === 'await_approval';

/**
 * True if an attempt was refused, moved no money, and may be replaced by another attempt. A denial
 * by the owner is not repeated by another attempt.
 */
export const isRefusedForGood = (error: unknown): boolean =>
  error instanceof ApiError &&
  error.moneyMoved === 'no' &&
  !isAwaiting(error) &&
  error.code !== 'approval_denied';

/**
 * True if a refused attempt stays in the store: the next call with its name goes on with it. The
 * owner has denied what a payment key stands for, so the key stays denied.
 */
export const isHeld = (name: string, error: ApiError): boolean =>
  isAwaiting(error) || (error.code === 'approval_denied' && name.startsWith('key:'));

type AttemptsDeps = {
  settle: Settle;
  settlements: SettlementReader;
  ledger: Ledger;
  payers: Payers;
  prepaid: Prepaid;
  store: PaymentStore;
  paid: (receipt: Receipt) => void;
};

/** Settles the quotes of stored records. Names are those of the store. */
export const createAttempts = ({ settlements, ledger, payers, prepaid, store, ...deps }: AttemptsDeps) => {
  /** Ends the hold of a record that has not paid the quote, and removes it unless it continues. */
  const giveUp = async (name: string, { id }: PaymentRecord, quote: QuoteClaims, continues = false) => {
    payers.delete(quote, id);
    ledger.release(id);
    if (!continues) await store.remove(name, id);
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
    const { tx_hash: txHash } = paid;
    return {
      ...record,
      settlement: { settlement_id, settlement_token },
      paidAt: Date.now(),
      txHash,
      adopted,
    };
  };

  return {
    giveUp,
    /**
     * Settles the quote of a record and stores the settlement. The record keeps its hold while the
     * outcome is unknown.
     * @throws QuoteTakenError if another buyer pays the quote; ApiError; NoAnswerError
     */
    pay: async (name: string, record: PaymentRecord, call: Call): Promise<PaymentRecord> => {
      const quote_token = record.quoteToken!;
      const quote = storedClaims(quote_token);
      try {
        const paid = await deps.settle(
          { quote_token, payment_attempt_id: record.id },
          call.signal === undefined ? {} : { signal: call.signal },
        );
        const { settlement_id, settlement_token } = paid;
        let settled: PaymentRecord = {
          ...record,
          settlement: { settlement_id, settlement_token },
          paidAt: Date.now(),
          txHash: paid.tx_hash,
        };
        if (paid.payment_attempt_id === record.id) ledger.spend(record.id);
        else settled = await adopt(record, call, paid);
        await store.save(name, settled);
        if (isPrepaid(quote)) await prepaid.save(settled);
        if (settled.adopted === undefined) deps.paid(receiptIn(settled)!);
        return settled;
      } catch (error) {
        // Without an explicit "no" it may have been paid, so the hold and the record stay.
        if (!(error instanceof ApiError) || error.moneyMoved !== 'no') throw error;
        await giveUp(name, record, quote, isHeld(name, error));
        throw error.code === TAKEN ? new QuoteTakenError(quote) : error;
      }
    },
  };
};
