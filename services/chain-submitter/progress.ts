import { randomUUID } from 'node:crypto';
import { chainSubmitter, type Progress } from '../../shared/contract/chain-submitter.ts';
import { subjects } from '../../shared/contract/service.ts';
import type { Outgoing } from '../../shared/db/outbox.ts';
import type { IntentRow } from './store/intents.ts';

const FACTS = {
  settle: 'settleProgressed',
  fund: 'fundProgressed',
  createTokenAccount: 'tokenAccountProgressed',
  delegation: 'delegationProgressed',
  withdrawal: 'withdrawalProgressed',
  refund: 'refundProgressed',
} as const satisfies Record<IntentRow['kind'], keyof typeof chainSubmitter.events>;

/**
 * The fact of a step. Its message id is new each time: the same state may be told again inside the stream's
 * duplicate window (a re-drive, a second fork), and an outbox row keeps the id it was written with.
 */
export const progressMessage = (
  intent: Pick<IntentRow, 'intent_id' | 'kind' | 'object_id'>,
  progress: Omit<Progress, 'object_id'>,
): Outgoing => ({
  subject: subjects.event(chainSubmitter.name, FACTS[intent.kind]),
  msgId: `${intent.intent_id}/${progress.generation}/${progress.status}/${randomUUID()}`,
  payload: { object_id: intent.object_id, ...progress } satisfies Progress,
});

/** The fact that bytes were signed, which may land from now on. */
export const signedFact = (
  intent: Pick<IntentRow, 'intent_id' | 'kind' | 'object_id'>,
  { generation, signature }: { generation: number; signature: string },
): Outgoing =>
  progressMessage(intent, { status: 'signed', generation, tx_hash: signature, slot: null, failure: null });

/** The present state, null before there is one. */
export const progressOf = (intent: IntentRow): Progress | null =>
  intent.status === 'accepted'
    ? null
    : {
        object_id: intent.object_id,
        status: intent.status,
        generation: intent.generation,
        tx_hash: intent.tx_hash,
        slot: intent.slot === null ? null : Number(intent.slot),
        failure:
          intent.failure_code === null
            ? null
            : { code: intent.failure_code, message: intent.failure_message ?? '' },
      };

/** The same as a fact. */
export const presentProgress = (intent: IntentRow): Outgoing | null => {
  const progress = progressOf(intent);
  return progress === null ? null : progressMessage(intent, progress);
};
