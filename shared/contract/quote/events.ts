import { z } from 'zod';
import {
  AccountId,
  MicroUsdc,
  MicroUsdcOrZero,
  PaymentLinkId,
  QuoteId,
  ServiceId,
  SettlementId,
  Timestamp,
} from '../primitives.ts';

/** The events of quote. */
export const events = {
  /**
   * Published once, five minutes after the quote's expiry, when settlement has reported that the
   * quote is not paid and can no longer be paid. Not of a quote of a payment link, because anyone
   * can open the page of the link and leave.
   */
  expired: z.strictObject({
    quote_id: QuoteId,
    account_id: AccountId,
    service_id: ServiceId,
    quote_amount: MicroUsdc,
    fee_amount: MicroUsdcOrZero,
    expires_at: Timestamp,
  }),
  /** Published when a payment of a payment link is confirmed. */
  linkPaid: z.strictObject({
    payment_link_id: PaymentLinkId,
    title: z.string(),
    settlement_id: SettlementId,
    quote_id: QuoteId,
    account_id: AccountId,
    service_id: ServiceId,
    quote_amount: MicroUsdc,
  }),
};
