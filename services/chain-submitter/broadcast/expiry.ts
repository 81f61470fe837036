import type { Pool } from '../../../shared/db/pool.ts';
import type { Logger } from '../../../shared/lib/logger.ts';
import { count } from '../../../shared/lib/metrics.ts';
import { inTraceOf } from '../../../shared/lib/trace.ts';
import type { Rpc } from '../chain/rpc-pool.ts';
import { listSignaturesUnder } from '../intents/adoption.ts';
import type { Executor } from '../intents/executor.ts';
import { expireTransaction } from '../transactions/store/transactions.ts';
import type { InFlightTransaction, InFlightTransactions } from './in-flight.ts';

type Deps = {
  pool: Pool;
  logger: Logger;
  rpc: Rpc;
  inFlight: InFlightTransactions;
  executor: Executor;
};

/** Younger bytes cannot have expired on any chain. */
const LEAST_AGE_MS = 1000;

/**
 * The proof that bytes can never land (rule 11), on every provider and in this order: the finalized block height
 * is past the last valid one, then no status with history, then nothing of them under the reference. A
 * provider that does not answer proves nothing.
 */
const isProvenDead = async ({ rpc }: Deps, { signature, order }: InFlightTransaction): Promise<boolean> => {
  const statuses = await Promise.all(
    rpc.providers.map((provider) => provider.statuses([signature], { history: true })),
  );
  if (statuses.some((answer) => answer.statuses[0] !== null)) return false;
  if (order === null || !('reference' in order)) return true;
  const under = await listSignaturesUnder(rpc, order, { everywhere: true });
  // Another transaction under the reference is no reason to wait for these bytes: the next look adopts it.
  return !under.includes(signature);
};

const expire = async (deps: Deps, transaction: InFlightTransaction): Promise<void> => {
  const { intent, signature, generation } = transaction;
  if (!deps.inFlight.isCurrent(transaction)) return;
  if (!(await isProvenDead(deps, transaction))) {
    count('quittance_chain_expiry_proofs_total', 1, { outcome: 'refuted' });
    // Known after all, perhaps from longer ago than a node's short memory: look again, in the history too.
    transaction.missedPolls += 1;
    transaction.pollAt = 0;
    return;
  }
  if (!deps.inFlight.isCurrent(transaction) || transaction.phase !== 'sent') return;
  deps.logger.warn({ intent: intent.intent_id, tx: signature, generation }, 'expired without landing');
  if (await expireTransaction(deps.pool, signature))
    count('quittance_chain_expiry_proofs_total', 1, { outcome: 'proven' });
  await deps.executor.rest(intent.intent_id, 0);
  await deps.executor.executeNow(intent.intent_id);
};

/** Looks for bytes that have expired; a new generation is signed only after the proof. */
export const expireInFlight = async (deps: Deps): Promise<void> => {
  const now = performance.now();
  const sent = deps.inFlight
    .list()
    .filter(({ phase, broadcastAt: launchedAt }) => phase === 'sent' && now - launchedAt >= LEAST_AGE_MS);
  if (sent.length === 0) return;
  const heights = await Promise.all(
    deps.rpc.providers.map((provider) => provider.blockHeight('finalized')),
  ).catch((error: unknown) => {
    count('quittance_chain_expiry_proofs_total', 1, { outcome: 'unanswered' });
    throw error;
  });
  const height = Math.min(...heights);
  const past = sent.filter(({ lastValidBlockHeight }) => lastValidBlockHeight < height);
  const results = await Promise.allSettled(
    past.map((transaction) => inTraceOf(transaction.intent.traceparent, () => expire(deps, transaction))),
  );
  for (const result of results) {
    if (result.status === 'fulfilled') continue;
    count('quittance_chain_expiry_proofs_total', 1, { outcome: 'unanswered' });
    deps.logger.warn({ err: result.reason }, 'expiry not proven yet');
  }
};
