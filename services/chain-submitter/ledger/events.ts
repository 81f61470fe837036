import type { Progress } from '../../../shared/contract/chain-submitter.ts';
import type { EventName } from '../../../shared/contract/events.ts';
import { event, type Message } from '../../../shared/events/event.ts';
import type { Bytes } from './store/commit-signed.ts';
import type { IntentRow } from './store/intents.ts';
import { toProgress } from './view.ts';

const EVENTS = {
  settle: 'chain-submitter.settleProgressed',
  fund: 'chain-submitter.fundProgressed',
  createTokenAccount: 'chain-submitter.tokenAccountProgressed',
  delegation: 'chain-submitter.delegationProgressed',
  withdrawal: 'chain-submitter.withdrawalProgressed',
  refund: 'chain-submitter.refundProgressed',
  incoming: 'chain-submitter.settleProgressed',
  outgoing: 'chain-submitter.settleProgressed',
} as const satisfies Record<IntentRow['kind'], EventName>;

/** The event of a transition. */
export const progressEvent = (
  { kind, object_id }: Pick<IntentRow, 'kind' | 'object_id'>,
  progress: Omit<Progress, 'object_id'>,
  options: Pick<Message, 'traceparent'> = {},
): Message => event(EVENTS[kind], { object_id, ...progress }, options);

/** The event that bytes are signed. From now on they may be included. */
export const signedEvent = (
  intent: Pick<IntentRow, 'kind' | 'object_id'>,
  { generation, signature }: Pick<Bytes, 'generation' | 'signature'>,
  options: Pick<Message, 'traceparent'> = {},
): Message =>
  progressEvent(
    intent,
    { status: 'signed', generation, tx_hash: signature, slot: null, failure: null },
    options,
  );

/** The event of an intent's current state; null before its first transition. */
export const currentEvent = (intent: IntentRow): Message | null => {
  const progress = toProgress(intent);
  return progress === null ? null : progressEvent(intent, progress);
};
