/**
 * The status of a wallet's delegation is derived at each observation: from the chain, which has the
 * delegation, and from the record, which has its history. So it has no table of transitions. The
 * record changes by the state machine of shared/lib/chain/chain-work.ts.
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
  /** The kind of the prepared transaction that was confirmed last. */
  lastConfirmed: 'approve' | 'revoke' | null;
  /** The allowance of that approval, micro-units; null otherwise. */
  approved: bigint | null;
};

type DelegationObservation = {
  exists: boolean;
  delegate: string | null;
  /** The delegate is a configured delegate authority that is not retired. */
  served: boolean;
  allowance: bigint;
};

const isDelegated = ({ delegate, allowance }: DelegationObservation): boolean =>
  delegate !== null && allowance > 0n;

/**
 * Whether the status depends on what was paid since the approval. The chain clears the delegate
 * when the allowance reaches zero, so an exhausted and a revoked delegation look the same there.
 */
export const needsSpending = (record: DelegationRecord, observation: DelegationObservation): boolean =>
  !isDelegated(observation) && observation.exists && !record.approving && record.lastConfirmed === 'approve';

/**
 * @param spent micro-units paid since the last approval; needed only where `needsSpending` is true
 */
export const delegationStatus = (
  record: DelegationRecord,
  observation: DelegationObservation,
  spent: bigint,
): DelegationStatus => {
  const delegated = isDelegated(observation);
  if (delegated && observation.served) return 'active';
  if (record.approving) return 'pending';
  // A foreign delegate overwrites nothing when the wallet never delegated to the platform.
  if (record.lastConfirmed === null) return 'none';
  if (delegated) return 'overwritten';
  const isExhausted =
    needsSpending(record, observation) && record.approved !== null && spent >= record.approved;
  return isExhausted ? 'exhausted' : 'revoked';
};
