import { z } from 'zod';
import { AccountId, DelegateId, MicroUsdc, ServiceId, Timestamp, TransactionHash } from '../primitives.ts';

/**
 * The state of a transfer of this service on chain. It is published when the transfer is confirmed,
 * when it is finalized, and when a fork has finally undone a confirmed transfer. Each event holds
 * all fields, so the events may arrive in any order.
 */
export const Moved = z.strictObject({
  type: z.enum(['deposit', 'withdrawal', 'refund', 'dev_fund']),
  object_id: z.string().max(64),
  status: z.enum(['confirmed', 'finalized', 'reversed']),
  tx_hash: TransactionHash,
  amount: MicroUsdc,
  /** The account that paid; null if the money came from outside. */
  from_account_id: AccountId.nullable(),
  /** The account that received it; null if the money went outside. */
  to_account_id: AccountId.nullable(),
  /** Of a refund: the service that was paid and the delegate that had paid it. */
  service_id: ServiceId.nullable(),
  delegate_id: DelegateId.nullable(),
  /** Of a refund: what was bought by its payment. */
  item: z.string().nullable(),
  /** When it was first seen confirmed; the same in every event. */
  created_at: Timestamp,
});
export type Moved = z.infer<typeof Moved>;
