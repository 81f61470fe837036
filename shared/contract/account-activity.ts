import { z } from 'zod';
import { AccountId } from './primitives.ts';
import { internalOperation } from './service.ts';

/** What of an account can be open. An account with any of it cannot be closed. */
export const OpenWork = z.enum([
  'quotes',
  'payments',
  'sales',
  'approvals',
  'fees',
  'withdrawals',
  'refunds',
  'deposits',
  'dev_funds',
  'wallets',
]);
export type OpenWork = z.infer<typeof OpenWork>;

/** Each service that has work of accounts reports its part. */
export const accountActivityOperation = internalOperation({
  summary: 'What of an account is open, which prevents that the account is closed. Empty if nothing is.',
  callers: ['identity'],
  input: z.strictObject({ account_id: AccountId }),
  output: z.array(OpenWork),
});

/**
 * The names of the columns of a row that are true. A statement returns one column for each part.
 */
export const openParts = (row: Partial<Record<OpenWork, boolean>>): OpenWork[] =>
  OpenWork.options.filter((part) => row[part] === true);
