import { stateMachine } from '../../../../shared/state-machine.ts';
import { SUBMITTED, type TransferEvent, type TransferStatus, WAITING } from './transfer.ts';

export type RefundStatus = 'pending_signature' | TransferStatus;
/** Besides, what nobody is shown: before it is reserved and prepared, and given up before that. */
export type RefundState = RefundStatus | 'new' | 'void';
export type RefundEvent = TransferEvent | 'open' | 'void';

/** How long a refund can be submitted. */
export const REFUND_LIFE_MS = 24 * 3_600_000;

export const refunds = stateMachine<RefundState, RefundEvent>({
  new: { open: 'pending_signature', void: 'void' },
  void: {},
  pending_signature: WAITING,
  ...SUBMITTED,
});

/** The states in which a refund holds nothing of its settlement's net: nothing of it has moved, and nothing will. */
export const HOLDS_NOTHING: readonly RefundState[] = ['void', 'failed', 'cancelled', 'expired'];
