import { stateMachine } from '../../../../shared/state-machine.ts';
import { PENDING, SUBMITTED, type TransferEvent, type TransferStatus } from './transfer.ts';

type WithdrawalStatus = 'pending_approval' | TransferStatus;

/** How long a withdrawal can be approved. */
export const WITHDRAWAL_LIFE_MS = 15 * 60_000;

export const withdrawals = stateMachine<WithdrawalStatus, TransferEvent>({
  pending_approval: PENDING,
  ...SUBMITTED,
});
