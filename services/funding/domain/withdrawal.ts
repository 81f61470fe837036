import { type Moved, steps } from './transfer.ts';

export type WithdrawalStatus = 'pending_approval' | Moved;

/** How long a withdrawal can be approved. */
export const WITHDRAWAL_LIFE_MS = 15 * 60_000;

export const withdrawalSteps = steps('pending_approval');
