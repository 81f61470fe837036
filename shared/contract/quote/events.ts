import { z } from 'zod';
import { AccountId, MicroUsdc, MicroUsdcOrZero, QuoteId, ServiceId, Timestamp } from '../primitives.ts';

/** The events of quote. */
export const events = {
  /**
   * Told once, when settlement has said that nobody paid it and nobody can any more: five minutes
   * after its end.
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
