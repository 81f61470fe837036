import { batched } from '../../../shared/db/batched.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { createLocalReserve } from './local-reserve.ts';
import { type CommitOutcome, commitSigned, type SignedTransition } from './store/commit-signed.ts';
import { type ClaimedIntent, insertIntents } from './store/intents.ts';

/** The statements that many payments share. */
export type GroupCommit = ReturnType<typeof createGroupCommit>;

/**
 * Commits with what this process has left of the payers' budgets, and reserves the rest in the
 * table. Transitions that the table refuses are committed again one by one, and each reserves only
 * what it needs. A small payment must not fail because of others in its batch, or because of the
 * amount that is reserved ahead.
 */
const createCommit = (pool: Pool, workerId: string) => {
  const reserve = createLocalReserve();
  const commit = async (
    transitions: readonly SignedTransition[],
    exactly: boolean,
  ): Promise<CommitOutcome[]> => {
    const reserved = reserve.reserve(transitions, exactly);
    const outcomes = await commitSigned(pool, reserved.transitions, workerId);
    reserved.release(outcomes);
    return outcomes;
  };
  return async (transitions: readonly SignedTransition[]): Promise<CommitOutcome[]> => {
    const outcomes = await commit(transitions, false);
    for (const [index, outcome] of outcomes.entries())
      if (outcome === 'over_budget') outcomes[index] = (await commit([transitions[index]!], true))[0]!;
    return outcomes;
  };
};

/**
 * Group commits of one process. Each payment has its guard and its result, whatever else shares its
 * statement.
 */
export const createGroupCommit = (pool: Pool, workerId: string) => ({
  /** Inserts an intent, leased to this worker. Null: it exists. */
  intent: batched((intents: readonly ClaimedIntent[]) => insertIntents(pool, intents, workerId), {
    keysOf: ({ intent_id }) => [intent_id],
  }),
  /**
   * Commits signed bytes (rule 8), with their intent if it is new, or returns why they are
   * discarded.
   */
  signed: batched(createCommit(pool, workerId), {
    keysOf: ({ intent }) => [intent.intent_id],
  }),
});
