import type { Pool } from '../../../shared/db/pool.ts';
import type { Outbox } from '../../../shared/events/relay.ts';
import { progressEvent } from './events.ts';
import type { Failure } from './model/failure.ts';
import { type IntentRow, type Transition, transitionIntents } from './store/intents.ts';

/** What an event is about: an intent in one generation, and its state then. */
export type Change = {
  intent: Pick<IntentRow, 'intent_id' | 'kind' | 'object_id' | 'traceparent'>;
  generation: number;
  signature: string | null;
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
 * Applies an event to intents and publishes it. State and outbox rows are one commit, and the
 * publishing follows.
 * @returns how many intents changed; the others were changed by another worker before
 */
export const transition = async (
  { pool, relay }: { pool: Pool; relay: Outbox },
  event: keyof typeof STATUS,
  changes: readonly Change[],
): Promise<number> => {
  const transitions = changes.map(
    ({ intent, generation, signature, slot, failure }): Transition => ({
      intentId: intent.intent_id,
      generation,
      ...(signature === null ? {} : { signature }),
      ...(slot === undefined ? {} : { slot }),
      ...(failure === undefined ? {} : { failure }),
      traceparent: intent.traceparent,
      message: progressEvent(intent, {
        status: STATUS[event],
        generation,
        tx_hash: signature,
        slot: slot ?? null,
        failure: failure ?? null,
      }),
    }),
  );
  const rows = await transitionIntents(pool, event, transitions);
  relay.dispatch(rows);
  return rows.length;
};
