/** Status of a wallet's delegation: the chain says what stands there, the record says how it came about. */
export type DelegationStatus = 'none' | 'pending' | 'active' | 'exhausted' | 'overwritten' | 'revoked';

export type DelegationRecord = {
  /** The delegate authority that the wallet names. */
  authority: string;
  /** A submitted approval has no outcome yet. */
  approving: boolean;
  /** The last of our own transactions that was confirmed. */
  lastConfirmed: 'approve' | 'revoke' | null;
};

export type DelegationSight = { exists: boolean; delegate: string | null; allowance: bigint };

/**
 * At zero the chain clears the delegate, so "used up" and "taken back" look the same there: after an approval
 * of ours and no revoke of ours, a cleared delegate of a living token account counts as used up.
 */
export const delegationStatus = (record: DelegationRecord, sight: DelegationSight): DelegationStatus => {
  const delegated = sight.delegate !== null && sight.allowance > 0n;
  if (delegated && sight.delegate === record.authority) return 'active';
  if (record.approving) return 'pending';
  // Another's delegate on a wallet that never delegated to us has overwritten nothing.
  if (record.lastConfirmed === null) return 'none';
  if (delegated) return 'overwritten';
  return record.lastConfirmed === 'approve' && sight.exists ? 'exhausted' : 'revoked';
};
