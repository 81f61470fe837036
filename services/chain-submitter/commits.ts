import { batched } from '../../shared/db/batched.ts';
import type { Pool } from '../../shared/db/pool.ts';
import {
  type CommitOutcome,
  commitSigned,
  insertIntents,
  type NewIntent,
  type SignedMove,
} from './store/intents.ts';

/** What of many payments is committed together. */
export type Commits = ReturnType<typeof createCommits>;

/**
 * Budgets are judged for a statement as a whole, so where one refuses, each is tried alone: one that is small enough must
 * not wait for ever for its company.
 */
const commitAll = async (pool: Pool, moves: readonly SignedMove[]): Promise<CommitOutcome[]> => {
  const outcomes = await commitSigned(pool, moves);
  if (moves.length === 1) return outcomes;
  for (const [index, outcome] of outcomes.entries())
    if (outcome === 'over_budget') outcomes[index] = (await commitSigned(pool, [moves[index]!]))[0]!;
  return outcomes;
};

/** Group commits of one process: each payment has its own guard and its own result, whoever shares the statement. */
export const createCommits = (pool: Pool, workerId: string) => ({
  /** Writes an intent, leased to this worker. Null: it is known already. */
  intent: batched((intents: readonly NewIntent[]) => insertIntents(pool, intents, workerId), {
    keysOf: ({ intent_id }) => [intent_id],
  }),
  /** Commits signed bytes (rule 8), or says why they are forgotten. */
  signed: batched((moves: readonly SignedMove[]) => commitAll(pool, moves), {
    keysOf: ({ intentId }) => [intentId],
  }),
});
