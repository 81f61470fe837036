import type { Progress } from '../../../../shared/contract/chain-submitter.ts';
import type { Transitions } from '../../../../shared/state-machine.ts';

/**
 * The states of withdrawals and refunds after the one in which they wait for their owner's
 * signature (docs/spec/decisions.md, Funding).
 */
export type TransferStatus = 'submitted' | 'confirmed' | 'finalized' | 'failed' | 'cancelled' | 'expired';
/** Events of chain-submitter, the owner's cancel, and the end of the transfer's life. */
export type TransferEvent = Progress['status'] | 'cancel' | 'elapse';

/**
 * The transitions of a transfer that waits for its owner's signature. Events arrive out of order,
 * so any of them may be the first.
 */
export const PENDING = {
  signed: 'submitted',
  confirmed: 'confirmed',
  finalized: 'finalized',
  failed: 'failed',
  cancel: 'cancelled',
  elapse: 'expired',
} as const;

/**
 * The transitions after that. The last four states are final. A submitted transfer never waits for
 * its owner again: the owner has signed, and an object has at most one co-signed transaction. A
 * transfer that a fork removed is `submitted` again and broadcast with the same bytes.
 */
export const SUBMITTED: Transitions<TransferStatus, TransferEvent> = {
  submitted: { signed: 'submitted', confirmed: 'confirmed', finalized: 'finalized', failed: 'failed' },
  confirmed: { finalized: 'finalized', failed: 'failed', reopened: 'submitted' },
  finalized: {},
  failed: {},
  cancelled: {},
  expired: {},
};
