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

const ids = { settlement_id: SettlementId, quote_id: QuoteId };
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
const about = { ...ids, ...parties };

/** What settlement publishes of a payment. Every event says who is concerned. */
export const settlementEvents = {
  /** An attempt was accepted: holds reserved, the payment is on its way. */
  accepted: z.strictObject(about),
  /** The payment is confirmed on chain; the settlement can be redeemed. */
  issued: z.strictObject({ ...about, tx_hash: TransactionHash, issued_at: Timestamp }),
  /**
   * No fork can undo it any more. The transaction is another than the issued one when a fork forced
   * a new one.
   */
  finalized: z.strictObject({ ...about, tx_hash: TransactionHash }),
  /** Proven: no money moved and none will. The quote may be tried again. */
  failed: z.strictObject({ ...about, code: z.string() }),
  /**
   * It was issued, and its payment was then reversed on chain for good. A redeemed settlement stays
   * redeemed.
   */
  reversed: z.strictObject({ ...about, redeemed: z.boolean() }),
  /** The vendor has taken it, by redeem or by the first consume. */
  redeemed: z.strictObject({ ...about, redeemed_at: Timestamp, redeem_id: RedeemId.nullable() }),
  /** Paid, and not redeemed in its window. */
  expired: z.strictObject({ ...about, redeem_expires_at: Timestamp }),
};
