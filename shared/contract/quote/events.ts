import { z } from 'zod';
import { AccountId, MicroUsdc, MicroUsdcOrZero, QuoteId, ServiceId, Timestamp } from '../primitives.ts';

/** The events of quote. */
export const events = {
  /**
   * Published once, five minutes after the quote's expiry, when settlement has reported that the
   * quote is not paid and can no longer be paid.
   */
  expired: z.strictObject({
    quote_id: QuoteId,
    account_id: AccountId,
    service_id: ServiceId,
    quote_amount: MicroUsdc,
    fee_amount: MicroUsdcOrZero,
    expires_at: Timestamp,
  }),
};
