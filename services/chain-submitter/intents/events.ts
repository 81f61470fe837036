import type { Progress } from '../../../shared/contract/chain-submitter.ts';
import type { EventName } from '../../../shared/contract/events.ts';
import { event, type Message } from '../../../shared/events/event.ts';
import type { IntentRow } from './store/intents.ts';

const EVENTS = {
  settle: 'chain-submitter.settleProgressed',
  fund: 'chain-submitter.fundProgressed',
  createTokenAccount: 'chain-submitter.tokenAccountProgressed',
  delegation: 'chain-submitter.delegationProgressed',
  withdrawal: 'chain-submitter.withdrawalProgressed',
  refund: 'chain-submitter.refundProgressed',
} as const satisfies Record<IntentRow['kind'], EventName>;

/** The event of a transition. */
export const progressEvent = (
  { kind, object_id }: Pick<IntentRow, 'kind' | 'object_id'>,
  progress: Omit<Progress, 'object_id'>,
  options: Pick<Message, 'traceparent'> = {},
): Message => event(EVENTS[kind], { object_id, ...progress }, options);

/** The event that bytes were signed, which may be included from now on. */
export const signedEvent = (
  intent: Pick<IntentRow, 'kind' | 'object_id'>,
  { generation, signature }: { generation: number; signature: string },
  options: Pick<Message, 'traceparent'> = {},
): Message =>
  progressEvent(
    intent,
    { status: 'signed', generation, tx_hash: signature, slot: null, failure: null },
    options,
  );

/** The present state, null before there is one. */
export const toProgress = (intent: IntentRow): Progress | null =>
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

/** The same as an event. */
export const currentEvent = (intent: IntentRow): Message | null => {
  const progress = toProgress(intent);
  return progress === null ? null : progressEvent(intent, progress);
};
