import { stateMachine } from '../../../../shared/state-machine.ts';
import { PENDING, SUBMITTED, type TransferEvent, type TransferStatus } from './transfer.ts';

/**
 * `new` and `void` are never shown: a refund before it is reserved and prepared, and one that was
 * abandoned before that.
 */
export type RefundState = 'new' | 'void' | 'pending_signature' | TransferStatus;
export type RefundEvent = TransferEvent | 'open' | 'void';

/** How long a refund can be submitted. */
export const REFUND_LIFE_MS = 24 * 3_600_000;

export const refunds = stateMachine<RefundState, RefundEvent>({
  new: { open: 'pending_signature', void: 'void' },
  void: {},
  pending_signature: PENDING,
  ...SUBMITTED,
});

/**
 * The states in which a refund reserves nothing of its settlement's net amount: none of its money
 * has moved, and none will.
 */
export const RESERVES_NOTHING: readonly RefundState[] = ['void', 'failed', 'cancelled', 'expired'];
