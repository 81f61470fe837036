import type { Pool } from '../../../shared/db/pool.ts';
import type { Relay } from '../../../shared/events/relay.ts';
import type { InFlightTransaction } from '../broadcast/in-flight.ts';
import { progressEvent } from './events.ts';
import type { Failure } from './model/failure.ts';
import { type IntentRow, type Transition, transitionIntents } from './store/intents.ts';

type IntentName = Pick<IntentRow, 'intent_id' | 'kind' | 'object_id' | 'traceparent'>;
/** What an event is about: an intent in one generation, and what is known of it then. */
type Change = {
  intent: IntentName;
  generation: number;
  txHash: string | null;
  slot?: number;
  failure?: Failure;
};

const STATUS = {
  confirm: 'confirmed',
  finalize: 'finalized',
  fork: 'reopened',
  fail: 'failed',
} as const;

/**
 * The transition of intents by one event, which is published at once: state and outbox row are one
 * commit, the publishing follows.
 * @returns how many changed; one that did not was changed by another worker before
 */
export const transition = async (
  { pool, relay }: { pool: Pool; relay: Pick<Relay, 'dispatch'> },
  event: keyof typeof STATUS,
  changes: readonly Change[],
): Promise<number> => {
  const transitions = changes.map(
    ({ intent, generation, txHash, slot, failure }): Transition => ({
      intentId: intent.intent_id,
      generation,
      ...(txHash === null ? {} : { txHash }),
      ...(slot === undefined ? {} : { slot }),
      ...(failure === undefined ? {} : { failure }),
      traceparent: intent.traceparent,
      message: progressEvent(intent, {
        status: STATUS[event],
        generation,
        tx_hash: txHash,
        slot: slot ?? null,
        failure: failure ?? null,
      }),
    }),
  );
  const rows = await transitionIntents(pool, event, transitions);
  relay.dispatch(rows);
  return rows.length;
};

/** The bytes of a flight, as what an event is about. */
export const toChange = ({ intent, generation, signature, slot }: InFlightTransaction): Change => ({
  intent,
  generation,
  txHash: signature,
  ...(slot === null ? {} : { slot }),
});
