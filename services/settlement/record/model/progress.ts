import type {
  IncomingReason,
  OutgoingReason,
  Progress,
} from '../../../../shared/contract/chain-submitter.ts';

/** Records a progress that is known without its event. */
export type ApplyProgress = (progress: Progress) => Promise<void>;

/**
 * The answer of chain-submitter to a question about a payment, which is newer than all events that
 * were recorded when it was asked. After a restore chain-submitter may know fewer generations, and
 * an event with an older generation records nothing.
 * @param generation of the record when the question was asked
 */
export const answerTo = (generation: number, progress: Progress): Progress => ({
  ...progress,
  generation: Math.max(generation, progress.generation),
});

type Reason = IncomingReason | OutgoingReason;

/**
 * The progress of a payment that chain-submitter has refused for good: nothing was signed for it,
 * and nothing will be.
 */
export const refusedProgress = (
  settlementId: string,
  { reason, message }: { reason: Reason; message: string },
): Progress => ({
  object_id: settlementId,
  status: 'failed',
  generation: 0,
  tx_hash: null,
  slot: null,
  failure: {
    code: reason === 'insufficient_funds' || reason === 'delegation_inactive' ? reason : 'payment_failed',
    message,
  },
});
