import { batched } from '../../../shared/db/batched.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { createLocalReserve } from '../limits/local-reserve.ts';
import {
  type CommitOutcome,
  commitSigned,
  insertIntents,
  type NewIntent,
  type SignedTransition,
} from './store/intents.ts';

/** What of many payments is committed together. */
export type GroupCommit = ReturnType<typeof createGroupCommit>;

/**
 * Commits with what this process has left of the payers' budgets, and has the table reserve what is missing. Where that
 * refuses, each is tried alone and reserves no more than it needs: one that is small enough must not wait for ever for its
 * company, nor for a portion.
 */
const createCommit = (pool: Pool) => {
  const portions = createLocalReserve();
  const commit = async (
    transitions: readonly SignedTransition[],
    exactly: boolean,
  ): Promise<CommitOutcome[]> => {
    const drawn = portions.reserve(transitions, exactly);
    const outcomes = await commitSigned(pool, drawn.transitions);
    drawn.keep(outcomes);
    return outcomes;
  };
  return async (transitions: readonly SignedTransition[]): Promise<CommitOutcome[]> => {
    const outcomes = await commit(transitions, false);
    for (const [index, outcome] of outcomes.entries())
      if (outcome === 'over_budget') outcomes[index] = (await commit([transitions[index]!], true))[0]!;
    return outcomes;
  };
};

/** Group commits of one process: each payment has its own guard and its own result, whoever shares the statement. */
export const createGroupCommit = (pool: Pool, workerId: string) => ({
  /** Writes an intent, leased to this worker. Null: it is known already. */
  intent: batched((intents: readonly NewIntent[]) => insertIntents(pool, intents, workerId), {
    keysOf: ({ intent_id }) => [intent_id],
  }),
  /** Commits signed bytes (rule 8), or says why they are forgotten. */
  signed: batched(createCommit(pool), {
    keysOf: ({ intentId }) => [intentId],
  }),
});
