import type { Pool } from '../../../shared/db/pool.ts';
import type { Outbox } from '../../../shared/events/relay.ts';
import { progressEvent } from './events.ts';
import type { Failure } from './model/failure.ts';
import type { TransactionCost } from './model/network-cost.ts';
import { type IntentRow, type Transition, transitionIntents } from './store/intents.ts';

/**
 * What an event is about: an intent in one generation, and its transaction. A transaction in flight
 * is one.
 */
type Change = {
  intent: Pick<IntentRow, 'intent_id' | 'kind' | 'object_id' | 'traceparent'>;
  generation: number;
  signature: string | null;
  slot?: number | null;
  failure?: Failure | null;
  /** What its transaction cost, of a final or failed one; undefined: nothing of ours. */
  paid?: TransactionCost | undefined;
};

const STATUS = {
  confirm: 'confirmed',
  finalize: 'finalized',
  fork: 'reopened',
  fail: 'failed',
} as const;
type ChainEvent = keyof typeof STATUS;

const transitionOf = (
  event: ChainEvent,
  { intent, generation, signature, slot: included = null, failure = null, paid }: Change,
): Transition => {
  // A fork removes the transaction from its slot.
  const slot = event === 'fork' ? null : included;
  const progress = { status: STATUS[event], generation, tx_hash: signature, slot, failure };
  const { subject, msgId, payload } = progressEvent(intent, progress);
  return {
    intent_id: intent.intent_id,
    generation,
    signature,
    slot,
    failure_code: failure?.code ?? null,
    failure_message: failure?.message ?? null,
    subject,
    msg_id: msgId,
    payload,
    traceparent: intent.traceparent,
    cost_account: paid?.accountId ?? null,
    fee_lamports: lamportsText(paid?.cost?.feeLamports),
    rent_lamports: lamportsText(paid?.cost?.rentLamports),
  };
};

const lamportsText = (lamports: bigint | undefined): string | null => lamports?.toString() ?? null;

/**
 * Applies an event to intents and publishes it. State and outbox rows are one commit, and the
 * publishing follows.
 * @returns how many intents changed; the others were changed by another worker before
 */
export const transition = async (
  { pool, relay }: { pool: Pool; relay: Outbox },
  event: ChainEvent,
  changes: readonly Change[],
): Promise<number> => {
  const rows = await transitionIntents(
    pool,
    event,
    changes.map((change) => transitionOf(event, change)),
  );
  relay.dispatch(rows);
  return rows.length;
};
