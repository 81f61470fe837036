import { z } from 'zod';
import { SecurityNote } from '../identity/security-note.ts';
import { COUNTED_CAPS } from '../limits.ts';
import {
  AccountId,
  DelegateId,
  ExtensionId,
  label,
  MicroUsdc,
  MicroUsdcOrZero,
  QuoteId,
  ServiceId,
  SettlementId,
  SolanaAddress,
  Timestamp,
  TransactionHash,
  WalletId,
} from '../primitives.ts';
import { Scope } from '../quote/operations.ts';
import { Approval } from './approvals.ts';
import { Decline, DeclineId } from './declines.ts';
import { Payees } from './payees.ts';
import { Rail } from './rail.ts';

export const RedeemId = label(128).meta({
  id: 'RedeemId',
  examples: ['replica-1-request-88'],
  description: 'Chosen by the vendor’s replica that redeems, so that it recognizes its own repeat',
});

const ids = { settlement_id: SettlementId, quote_id: QuoteId.nullable() };
/**
 * Who pays whom, and how much. A payment of another protocol has no quote. An incoming one has no
 * payer of ours: `payer_address` signed it. An outgoing one (`x402_out`) has no vendor of ours.
 */
const parties = {
  rail: Rail,
  account_id: AccountId.nullable(),
  delegate_id: DelegateId.nullable(),
  wallet_id: WalletId.nullable(),
  payer_address: SolanaAddress.nullable(),
  service_id: ServiceId.nullable(),
  vendor_account_id: AccountId.nullable(),
  quote_amount: MicroUsdc,
  fee_amount: MicroUsdcOrZero,
};
export const payment = { ...parties, issued_at: Timestamp };
const about = { ...ids, ...parties };
/** With the metadata of the quote, which the webhooks derived from these events return. */
const aboutQuoted = { ...about, scope: Scope.nullable() };

/** The events of settlement. Every event names the accounts of the payment. */
export const events = {
  /** An attempt was accepted. Its holds are reserved, and the payment is under way. */
  accepted: z.strictObject(about),
  /** The payment is confirmed on chain; the settlement can be redeemed. */
  issued: z.strictObject({
    ...aboutQuoted,
    tx_hash: TransactionHash,
    issued_at: Timestamp,
    /** What was bought, if the quote or the client of another protocol says so. */
    item: z.string().nullable().optional(),
    /** Everybody whom an outgoing payment pays. Others name their service. */
    payees: Payees.nullable().optional(),
  }),
  /**
   * The payment is finalized: no fork can undo it. If a fork forced a new transaction, it differs
   * from the issued one.
   */
  finalized: z.strictObject({ ...aboutQuoted, tx_hash: TransactionHash }),
  /** A ceiling is held, which is `quote_amount`. Nothing is paid yet. */
  authorized: z.strictObject({ ...aboutQuoted, capture_ends_at: Timestamp }),
  /**
   * An authorization has an extension. `quote_amount` is the ceiling now.
   */
  extended: z.strictObject({
    ...aboutQuoted,
    extension_id: ExtensionId,
    extension_quote_id: QuoteId,
    added: MicroUsdc,
  }),
  /**
   * The payer's wallet no longer covers what is held. No further use is accepted, and what was used
   * is captured.
   */
  atRisk: z.strictObject({ ...aboutQuoted, used: MicroUsdcOrZero, at_risk_at: Timestamp }),
  /**
   * A part of the ceiling is paid, which is `quote_amount`; the rest is released. Published beside
   * `issued` and `redeemed`.
   */
  captured: z.strictObject({ ...aboutQuoted, tx_hash: TransactionHash, max_amount: MicroUsdc }),
  /** An authorization ended without a payment. Everything that it held is released. */
  voided: z.strictObject({
    ...aboutQuoted,
    voided_at: Timestamp,
    /** What was reported and is not paid: discarded, or too little for the fee. */
    used: MicroUsdcOrZero,
  }),
  /**
   * It is proven that no money moved and none will. The quote may be tried again. `used`: what was
   * reported of an authorization whose capture failed, which nobody pays.
   */
  failed: z.strictObject({ ...aboutQuoted, code: z.string(), used: MicroUsdcOrZero.optional() }),
  /**
   * The payment of an issued settlement was finally reversed on chain. A redeemed settlement stays
   * redeemed.
   */
  reversed: z.strictObject({ ...aboutQuoted, redeemed: z.boolean() }),
  /** The vendor has redeemed it, by redeem or by the first consume. */
  redeemed: z.strictObject({ ...aboutQuoted, redeemed_at: Timestamp, redeem_id: RedeemId.nullable() }),
  /** The settlement was paid and not redeemed within its window. */
  expired: z.strictObject({ ...aboutQuoted, redeem_expires_at: Timestamp }),
  /** A payment of a delegate waits for its owner's approval. */
  approvalRequested: z.strictObject({ ...Approval.shape, account_id: AccountId }),
  /** The owner has approved or denied it. */
  approvalDecided: z.strictObject({ ...Approval.shape, account_id: AccountId }),
  /** A payment was refused before anything was reserved. Payer and vendor get different parts. */
  declined: z.strictObject({
    ...Decline.required().shape,
    account_id: AccountId,
    vendor_account_id: AccountId,
  }),
  /** Something that the owner of an account should recognise. */
  securityNoted: SecurityNote,
  /** A limit of a delegate leaves less than it wants to pay; once for each period of the limit. */
  delegateExhausted: z.strictObject({
    account_id: AccountId,
    delegate_id: DelegateId,
    /** The decline that shows it. */
    decline_id: DeclineId,
    name: z.enum(COUNTED_CAPS),
    limit: MicroUsdcOrZero,
    /** Spent, or held by payments that are under way. */
    used: MicroUsdcOrZero,
    left: MicroUsdcOrZero,
    resets_at: Timestamp.nullable(),
    /** The day, the month, or `ever`. */
    period: z.string().max(10),
  }),
};
