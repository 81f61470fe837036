import { batched } from '../../shared/db/batched.ts';
import type { Pool } from '../../shared/db/pool.ts';
import { commitSigned, insertIntents, type NewIntent, type SignedMove } from './store/intents.ts';

/** What of many payments is committed together. */
export type Commits = ReturnType<typeof createCommits>;

/** Group commits of one process: each payment has its own guard and its own result, whoever shares the statement. */
export const createCommits = (pool: Pool, workerId: string) => ({
  /** Writes an intent, leased to this worker. Null: it is known already. */
  intent: batched((intents: readonly NewIntent[]) => insertIntents(pool, intents, workerId), {
    keysOf: ({ intent_id }) => [intent_id],
  }),
  /** Commits signed bytes (rule 8). Null: the intent has moved on, or it is too late; they are forgotten. */
  signed: batched((moves: readonly SignedMove[]) => commitSigned(pool, moves), {
    keysOf: ({ intentId }) => [intentId],
  }),
});
