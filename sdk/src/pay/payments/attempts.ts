import { type QuoteClaims, storedClaims } from '../../checks/tokens.ts';
import { ApiError, NoAnswerError, PaymentUndecidedError } from '../../errors.ts';
import type { Paid, Settle } from '../../settle.ts';
import type { Ledger } from '../base/budget.ts';
import type { Call } from '../base/call.ts';
import { QuoteTakenError } from '../base/errors.ts';
import type { Payers } from '../base/payers.ts';
import { type Receipt, receiptIn } from '../base/receipt.ts';
import { isAuthorization, isForMany } from '../base/rules.ts';
import type { PaymentRecord, PaymentStore } from '../base/store.ts';
import type { Prepaid } from './prepaid.ts';
import type { SettlementReader } from './settlement-reader.ts';
import type { Tabs } from './tabs.ts';

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
  tabs: Tabs;
  store: PaymentStore;
  paid: (receipt: Receipt) => void;
};

const transactionOf = ({ tx_hash }: Paid): { txHash?: string } =>
  tx_hash === null ? {} : { txHash: tx_hash };

/**
 * Adopts the payment of another attempt of the account for this quote, perhaps of a process that
 * died.
 */
const createAdopt =
  ({ settlements, ledger }: AttemptsDeps) =>
  async (record: PaymentRecord, call: Call, paid: Paid): Promise<PaymentRecord> => {
    const { settlement_id, settlement_token, payment_attempt_id } = paid;
    const isBundle = isForMany(storedClaims(record.quoteToken!));
    // If the payer is alive, it presents the payment within moments. Using it here would leave the
    // payer without a delivery.
    if (!isBundle) await settlements.untilRedeemed(settlement_id, call.signal);
    ledger.release(record.id);
    // A read with the payer's own request id gets the payer's answer again. No other delivery is
    // used for this call.
    const isRead = call.method === 'GET' || call.method === 'HEAD';
    const adopted = { requestId: isRead && !isBundle ? payment_attempt_id : record.id };
    return {
      ...record,
      settlement: { settlement_id, settlement_token },
      paidAt: Date.now(),
      ...transactionOf(paid),
      adopted,
    };
  };

/** Settles the quotes of stored records. Names are those of the store. */
export const createAttempts = (deps: AttemptsDeps) => {
  const { ledger, payers, prepaid, tabs, store } = deps;
  const adopt = createAdopt(deps);
  /** Ends the hold of a record that has not paid the quote, and removes it unless it continues. */
  const giveUp = async (name: string, { id }: PaymentRecord, quote: QuoteClaims, continues = false) => {
    payers.delete(quote, id);
    ledger.release(id);
    tabs.cancel(id);
    if (!continues) await store.remove(name, id);
  };

  return {
    giveUp,
    /**
     * Settles the quote of a record and stores the settlement. The record keeps its hold while the
     * outcome is unknown.
     * @param isNew its id was never sent to the API
     * @throws QuoteTakenError if another buyer pays the quote; ApiError; NoAnswerError
     */
    pay: async (name: string, record: PaymentRecord, call: Call, isNew = false): Promise<PaymentRecord> => {
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
          ...transactionOf(paid),
          ...(isAuthorization(quote) && { method: call.method }),
        };
        if (paid.payment_attempt_id !== record.id) settled = await adopt(record, call, paid);
        // The ceiling of an authorization stays reserved until it is known what was captured.
        else if (!isAuthorization(quote)) ledger.spend(record.id);
        await store.save(name, settled);
        if (isForMany(quote)) await prepaid.save(settled);
        if (isAuthorization(quote)) await tabs.opened(settled);
        if (settled.adopted === undefined) deps.paid(receiptIn(settled)!);
        return settled;
      } catch (error) {
        if (isNew && error instanceof PaymentUndecidedError && !error.wasSent) {
          await giveUp(name, record, quote);
          // Of a signal, the reason is no answer.
          if (!(error.cause instanceof NoAnswerError)) throw call.signal?.reason ?? error;
          throw Object.assign(error.cause, { moneyMoved: 'no' });
        }
        // Without an explicit "no" it may have been paid, so the hold and the record stay.
        if (!(error instanceof ApiError) || error.moneyMoved !== 'no') throw error;
        await giveUp(name, record, quote, isHeld(name, error));
        throw error.code === TAKEN ? new QuoteTakenError(quote) : error;
      }
    },
  };
};
