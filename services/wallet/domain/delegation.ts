/**
 * Status of a wallet's delegation: the chain says what stands there, the record says how it came
 * about. It is derived from both at each observation, so it has no table of transitions; the record
 * below changes by the one of shared/lib/chain-work.ts.
 */
export const DELEGATION_STATUSES = [
  'none',
  'pending',
  'active',
  'exhausted',
  'overwritten',
  'revoked',
] as const;
export type DelegationStatus = (typeof DELEGATION_STATUSES)[number];

export type DelegationRecord = {
  /** A submitted approval has no outcome yet. */
  approving: boolean;
  /** The last of our own transactions that was confirmed. */
  lastConfirmed: 'approve' | 'revoke' | null;
  /** What that approval allowed, micro-units; null for anything else. */
  approved: bigint | null;
};

export type DelegationSight = {
  exists: boolean;
  delegate: string | null;
  /** The delegate is a delegate authority of ours, and was not retired. */
  served: boolean;
  allowance: bigint;
};

const isDelegated = ({ delegate, allowance }: DelegationSight): boolean =>
  delegate !== null && allowance > 0n;

/**
 * At zero the chain clears the delegate, so "used up" and "taken back" look the same there. Whether what was paid
 * since the approval has to be known to tell them apart.
 */
export const needsSpending = (record: DelegationRecord, sight: DelegationSight): boolean =>
  !isDelegated(sight) && sight.exists && !record.approving && record.lastConfirmed === 'approve';

/** @param spent by settles of ours since the last approval, micro-units; asked for where `needsSpending` says so */
export const delegationStatus = (
  record: DelegationRecord,
  sight: DelegationSight,
  spent: bigint,
): DelegationStatus => {
  const delegated = isDelegated(sight);
  if (delegated && sight.served) return 'active';
  if (record.approving) return 'pending';
  // Another's delegate on a wallet that never delegated to us has overwritten nothing.
  if (record.lastConfirmed === null) return 'none';
  if (delegated) return 'overwritten';
  const usedUp = needsSpending(record, sight) && record.approved !== null && spent >= record.approved;
  return usedUp ? 'exhausted' : 'revoked';
};
