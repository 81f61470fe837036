import type { Progress } from '../../../../shared/contract/chain-submitter.ts';
import type { Transitions } from '../../../../shared/state-machine.ts';

/**
 * The states of withdrawals and refunds after the one in which they wait for their owner
 * (docs/spec/decisions.md, Funding).
 */
export type TransferStatus = 'submitted' | 'confirmed' | 'finalized' | 'failed' | 'cancelled' | 'expired';
/** Events of chain-submitter, the owner's cancel, and the end of its life. */
export type TransferEvent = Progress['status'] | 'cancel' | 'elapse';

/**
 * What becomes of a transfer that waits for its owner. Events overtake one another, so any may be
 * the first.
 */
export const WAITING = {
  signed: 'submitted',
  confirmed: 'confirmed',
  finalized: 'finalized',
  failed: 'failed',
  cancel: 'cancelled',
  elapse: 'expired',
} as const;

/**
 * What becomes of it afterwards. Nothing leaves the last four states. A transfer that was submitted
 * never waits again: its owner's signature is out, and one co-signed transaction per object is all
 * there ever is. What was forked away is `submitted` again, and is broadcast with the same bytes.
 */
export const SUBMITTED: Transitions<TransferStatus, TransferEvent> = {
  submitted: { signed: 'submitted', confirmed: 'confirmed', finalized: 'finalized', failed: 'failed' },
  confirmed: { finalized: 'finalized', failed: 'failed', reopened: 'submitted' },
  finalized: {},
  failed: {},
  cancelled: {},
  expired: {},
};
