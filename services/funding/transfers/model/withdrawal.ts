import { stateMachine } from '../../../../shared/state-machine.ts';
import { SUBMITTED, type TransferEvent, type TransferStatus, WAITING } from './transfer.ts';

export type WithdrawalStatus = 'pending_approval' | TransferStatus;

/** How long a withdrawal can be approved. */
export const WITHDRAWAL_LIFE_MS = 15 * 60_000;

export const withdrawals = stateMachine<WithdrawalStatus, TransferEvent>({
  pending_approval: WAITING,
  ...SUBMITTED,
});
