import { z } from 'zod';
import { AccountId, DelegateId, MicroUsdc, ServiceId, Timestamp, TransactionHash } from '../primitives.ts';

/**
 * A transfer of this service as the chain has it: told when it is confirmed, when it is final, and
 * when it was confirmed and then undone by a fork for good. Every telling holds everything, so that
 * they may come in any order.
 */
export const Moved = z.strictObject({
  type: z.enum(['deposit', 'withdrawal', 'refund', 'dev_fund']),
  object_id: z.string().max(64),
  status: z.enum(['confirmed', 'finalized', 'reversed']),
  tx_hash: TransactionHash,
  amount: MicroUsdc,
  /** Whose money left; null when it came from outside. */
  from_account_id: AccountId.nullable(),
  /** Whose wallet it reached; null when it went outside. */
  to_account_id: AccountId.nullable(),
  /** Of a refund: the service that was paid and the delegate that had paid it. */
  service_id: ServiceId.nullable(),
  delegate_id: DelegateId.nullable(),
  /** When it was first seen confirmed; the same in every telling. */
  created_at: Timestamp,
});
export type Moved = z.infer<typeof Moved>;
