import { z } from 'zod';
import {
  AccountId,
  DelegateId,
  label,
  MicroUsdc,
  MicroUsdcOrZero,
  QuoteId,
  ServiceId,
  SettlementId,
  Timestamp,
  TransactionHash,
  WalletId,
} from './primitives.ts';

export const RedeemId = label(128).meta({
  id: 'RedeemId',
  examples: ['replica-1-request-88'],
  description: 'Chosen by the vendor replica that redeems',
});

const fact = { settlement_id: SettlementId, quote_id: QuoteId };
/** Who pays whom, and how much. */
const parties = {
  account_id: AccountId,
  delegate_id: DelegateId.nullable(),
  wallet_id: WalletId,
  service_id: ServiceId,
  vendor_account_id: AccountId,
  quote_amount: MicroUsdc,
  fee_amount: MicroUsdcOrZero,
};
export const payment = { ...parties, issued_at: Timestamp };
/** With who is concerned, or as it was told before: outboxes and the stream, which keeps a week, may have such facts. */
const concerning = <F extends z.ZodRawShape, Before extends z.ZodRawShape>(told: F, before: Before) =>
  z.union([z.strictObject({ ...told, ...parties }), z.strictObject(before)]);

/** What settlement tells: the facts of a payment. */
export const settlementEvents = {
  /** An attempt was accepted: holds taken, the payment is on its way. */
  accepted: concerning(fact, { ...fact, account_id: AccountId }),
  /** The payment is confirmed on chain; the settlement can be redeemed. */
  issued: z.union([
    z.strictObject({ ...fact, tx_hash: TransactionHash, ...payment }),
    // From before it told the payment: outboxes and the stream, which keeps a week, may still have such a fact.
    z.strictObject({ ...fact, tx_hash: TransactionHash }),
  ]),
  /** No fork can undo it any more. The transaction is another than the issued one when a fork forced a new one. */
  finalized: concerning({ ...fact, tx_hash: TransactionHash }, { ...fact, tx_hash: TransactionHash }),
  /** Proven: no money moved and none will. The quote may be tried again. */
  failed: concerning({ ...fact, code: z.string() }, { ...fact, code: z.string() }),
  /** It was issued, and its payment was then reversed on chain for good. A redeemed settlement stays redeemed. */
  reversed: concerning({ ...fact, redeemed: z.boolean() }, { ...fact, redeemed: z.boolean() }),
  /** The vendor has taken it, by redeem or by the first consume. */
  redeemed: z.strictObject({
    ...fact,
    ...parties,
    redeemed_at: Timestamp,
    redeem_id: RedeemId.nullable(),
  }),
  /** Paid, and not redeemed in its window. */
  expired: z.strictObject({ ...fact, ...parties, redeem_expires_at: Timestamp }),
};
