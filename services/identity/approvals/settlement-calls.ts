import type { z } from 'zod';
import type { settlement } from '../../../shared/contract/index.ts';

type Internal = typeof settlement.internal;

/** The approval of an account, which settlement stores. Null: the account does not have it. */
export type FindApproval = (
  accountId: string,
  approvalId: string,
) => Promise<z.infer<Internal['findApproval']['output']>>;

/** Records that a passkey of the owner has signed. */
export type RecordApproval = (
  input: z.infer<Internal['recordApproval']['input']>,
) => Promise<z.infer<Internal['recordApproval']['output']>>;
