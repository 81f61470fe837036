import type { DelegationStatus } from '../delegation-status.ts';

/** The parts of a wallet's snapshot that decide whether it has changed. */
type Snapshot = {
  token_account_exists: boolean;
  /** The token account existed in an earlier snapshot. */
  token_account_seen: boolean;
  balance: bigint;
  delegate: string | null;
  allowance: bigint;
  delegation_status: DelegationStatus;
};

/** The token account existed before. Now it does not exist, or belongs to another owner. */
export const isClosed = (snapshot: Pick<Snapshot, 'token_account_exists' | 'token_account_seen'>): boolean =>
  snapshot.token_account_seen && !snapshot.token_account_exists;

/** Whether a change is published: settlement admits payers by it. */
export const isDelegationChanged = (now: Snapshot, before: Snapshot): boolean =>
  now.delegation_status !== before.delegation_status ||
  isClosed(now) !== isClosed(before) ||
  // From one configured authority to another.
  (now.delegation_status === 'active' && now.delegate !== before.delegate);

/** Whether anything has changed, so that the wallet counts as active and is polled often. */
export const isChanged = (now: Snapshot, before: Snapshot): boolean =>
  isDelegationChanged(now, before) ||
  now.balance !== before.balance ||
  now.allowance !== before.allowance ||
  now.delegate !== before.delegate;
