import { z } from 'zod';
import {
  AccountId,
  Currency,
  Environment,
  MicroUsdc,
  MicroUsdcOrZero,
  QuoteId,
  ServiceId,
  SettlementId,
  SolanaAddress,
  Timestamp,
} from './primitives.ts';
import { CaptureTerms } from './quote/capture.ts';
import { Scope } from './quote.ts';

const kid = z.string().regex(/^(test|live)\.(quote|settlement)\.[1-9][0-9]{0,5}$/);

/**
 * The claims of a quote token. They fix the payout address: a later change of the service does not
 * redirect the payment.
 */
export const QuoteClaims = z.strictObject({
  typ: z.literal('quote'),
  kid,
  env: Environment,
  quote_id: QuoteId,
  vendor_account_id: AccountId,
  service_id: ServiceId,
  service_name: z.string(),
  /** The vendor's domain, as people are shown it, if it was proven when the quote was signed. */
  service_domain: z.string().optional(),
  payout_address: SolanaAddress,
  mint: SolanaAddress,
  quote_amount: MicroUsdc,
  fee_amount: MicroUsdcOrZero,
  currency: Currency,
  issued_at: Timestamp,
  expires_at: Timestamp,
  redeem_window_seconds: z.int().min(30).max(604800),
  scope: Scope.nullable(),
  /**
   * Then `quote_amount` is the ceiling and `fee_amount` the fee of the ceiling: who does not know
   * of captures never pays more than it read. Absent: the whole amount is paid.
   */
  capture: CaptureTerms.optional(),
  /**
   * The quote of the authorization whose ceiling this one extends by `quote_amount`. `capture` has
   * the terms of that quote. `fee_amount` is the share of the addition: the smallest fee is part of
   * the first quote's.
   */
  extends: QuoteId.optional(),
});
export type QuoteClaims = z.infer<typeof QuoteClaims>;

/**
 * The claims of a settlement token. Redeem reads the record. The token proves that the payer gave
 * it to the caller.
 */
export const SettlementClaims = z.strictObject({
  typ: z.literal('settlement'),
  kid,
  env: Environment,
  settlement_id: SettlementId,
  quote_id: QuoteId,
  service_id: ServiceId,
  quote_amount: MicroUsdc,
  issued_at: Timestamp,
  redeem_expires_at: Timestamp,
});
export type SettlementClaims = z.infer<typeof SettlementClaims>;
