import type { ChainStatus, Status } from '../../record/model/status.ts';

/** The columns of a settlement that decide about its hand-out. */
export type HandOutState = {
  status: Status;
  chain_status: ChainStatus;
  /** Of the last hand-out. */
  hand_out_id: string | null;
  /** It is so recent that the confirmation may still come. */
  handed_out: boolean;
  is_refunded: boolean;
};

/**
 * What a call does next: it waits for the confirmation of an earlier hand-out, hands the success
 * out, waits for a change after another call has it, or answers.
 */
export type Step =
  | 'await confirmation'
  | 'hand out'
  | 'await change'
  | 'failed'
  | 'duplicate'
  | 'refunded'
  | 'pending';

/**
 * A gateway repeats the confirmation of a hand-out every 1.25 s at most. While this service was
 * unavailable it was refused, so it gets this time before the hand-out counts as lost.
 */
export const CONFIRM_GRACE_MS = 2000;

/** Whether the success was handed out long ago, and nothing confirms that it was sent. */
const isUnconfirmed = ({ hand_out_id, handed_out }: HandOutState): boolean =>
  hand_out_id !== null && !handed_out;

/**
 * The next step of a call about a payment that is no longer pending: its success is handed out
 * once.
 * @param row as it was read last
 * @param previous the step before; null: none. A hand-out that ended the call has no step after it
 * @param leftMs until the call has to answer
 */
export const nextStep = (row: HandOutState, previous: Step | null, leftMs: number): Step => {
  if (previous === 'hand out') {
    if (leftMs > 0) return 'await change';
    return row.handed_out ? 'duplicate' : 'pending';
  }
  if (row.status === 'failed') return 'failed';
  if (row.status !== 'issued') return 'duplicate';
  if (isUnconfirmed(row) && previous !== 'await confirmation')
    return leftMs < CONFIRM_GRACE_MS ? 'pending' : 'await confirmation';
  return row.is_refunded ? 'refunded' : 'hand out';
};

/** Whether a wait for the confirmation of an earlier hand-out is over. */
export const isConfirmed = ({ status }: HandOutState): boolean => status !== 'issued';

/** Whether a wait after another call's hand-out is over: the next step may be another one. */
export const hasChanged = ({ status, handed_out, chain_status, is_refunded }: HandOutState): boolean =>
  status !== 'issued' || is_refunded || (!handed_out && chain_status !== 'pending');
