import { z } from 'zod';
import { accountActivityOperation } from '../account-activity.ts';
import { operatorOperations } from '../operator.ts';
import { AccountId, MicroUsdc, ServiceId, SolanaAddress, Timestamp } from '../primitives.ts';
import { listSentEvents } from '../sent-events.ts';
import { internalOperation } from '../service.ts';
import { Quote } from './operations.ts';

/**
 * The activity that prevents the deletion of a service. `ends_at` is null if there was never any.
 */
export const Activity = z.strictObject({ open: z.boolean(), ends_at: Timestamp.nullable() });

/** The internal operations of quote. */
export const internal = {
  ...operatorOperations,
  listSentEvents: listSentEvents(['webhook']),
  getAccountActivity: accountActivityOperation,
  createFeeQuote: internalOperation({
    summary:
      'A quote of the platform’s own service for the accrued fees of an account, which its scope names. It carries no fee, and pays the fee wallet.',
    callers: ['settlement'],
    input: z.strictObject({ account_id: AccountId, amount: MicroUsdc, payout_address: SolanaAddress }),
    output: Quote,
  }),
  getQuoteActivity: internalOperation({
    summary: 'Whether quotes of a service can still be paid, and when the last one ends',
    callers: ['identity'],
    input: z.strictObject({ service_id: ServiceId }),
    output: Activity,
  }),
};
