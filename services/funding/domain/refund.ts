import { type Moved, steps } from './transfer.ts';

export type RefundStatus = 'pending_signature' | Moved;

/** How long a refund can be submitted. */
export const REFUND_LIFE_MS = 24 * 3_600_000;

export const refundSteps = steps('pending_signature');

/** The states in which a refund holds nothing of its settlement's net: nothing of it has moved, and nothing will. */
export const HOLDS_NOTHING: readonly RefundStatus[] = ['failed', 'cancelled', 'expired'];
