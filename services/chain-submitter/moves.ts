import type { Deps } from './deps.ts';
import type { Failure } from './domain/failure.ts';
import type { Flight } from './flights.ts';
import { progressMessage } from './progress.ts';
import { type IntentRow, type Move, moveIntents } from './store/intents.ts';

type Told = Pick<IntentRow, 'intent_id' | 'kind' | 'object_id' | 'traceparent'>;
type Step = {
  intent: Told;
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
 * Moves intents by one event and tells it at once: state and fact are one commit, the publishing follows.
 * @returns how many moved; one that did not has moved on by another hand
 */
export const move = async (
  { pool, relay }: Pick<Deps, 'pool' | 'relay'>,
  event: keyof typeof STATUS,
  steps: readonly Step[],
): Promise<number> => {
  const moves = steps.map(
    ({ intent, generation, txHash, slot, failure }): Move => ({
      intentId: intent.intent_id,
      generation,
      ...(txHash === null ? {} : { txHash }),
      ...(slot === undefined ? {} : { slot }),
      ...(failure === undefined ? {} : { failure }),
      traceparent: intent.traceparent,
      message: progressMessage(intent, {
        status: STATUS[event],
        generation,
        tx_hash: txHash,
        slot: slot ?? null,
        failure: failure ?? null,
      }),
    }),
  );
  const rows = await moveIntents(pool, event, moves);
  relay.dispatch(rows);
  return rows.length;
};

/** A step about the bytes of a flight. */
export const stepOf = ({ intent, generation, signature, slot }: Flight): Step => ({
  intent,
  generation,
  txHash: signature,
  ...(slot === null ? {} : { slot }),
});
