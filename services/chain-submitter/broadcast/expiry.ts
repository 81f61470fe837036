import type { Pool } from '../../../shared/db/pool.ts';
import type { Logger } from '../../../shared/lib/logger.ts';
import { count } from '../../../shared/lib/metrics.ts';
import { inTraceOf } from '../../../shared/lib/trace.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import type { Executor } from '../intents/executor.ts';
import { searchOf } from '../intents/model/order.ts';
import { expireTransaction } from '../transactions/store/transactions.ts';
import { proveExpiry, readFinalizedHeight } from './expiry-proof.ts';
import type { InFlightTransaction, InFlightTransactions } from './in-flight.ts';

type Deps = {
  pool: Pool;
  logger: Logger;
  rpc: RpcPool;
  inFlight: InFlightTransactions;
  executor: Pick<Executor, 'release' | 'executeNow'>;
};

/** Younger bytes cannot have expired on any chain. */
const LEAST_AGE_MS = 1000;

const isExpired = async (
  { rpc }: Pick<Deps, 'rpc'>,
  transaction: InFlightTransaction,
  height: number,
): Promise<boolean> => {
  const search = searchOf(transaction.order);
  const { results } = await proveExpiry({ rpc }, [transaction], { height, search });
  // Another transaction under the reference does not block the expiry of these bytes: the executor
  // adopts it next.
  return results[0]!.result === 'expired';
};

const expire = async (deps: Deps, transaction: InFlightTransaction, height: number): Promise<void> => {
  const { intent, signature, generation } = transaction;
  if (!deps.inFlight.isCurrent(transaction)) return;
  if (!(await isExpired(deps, transaction, height))) {
    count('quittance_chain_expiry_proofs_total', 1, { outcome: 'refuted' });
    // A provider has a trace of it, possibly from before its status cache: the next poll searches
    // the history.
    transaction.missedPolls += 1;
    transaction.pollAt = 0;
    return;
  }
  if (!deps.inFlight.isCurrent(transaction) || transaction.phase !== 'sent') return;
  deps.logger.warn(
    { intent: intent.intent_id, signature, generation },
    'transaction expired without being included, signing the next generation',
  );
  if (await expireTransaction(deps.pool, { intentId: intent.intent_id, signature }))
    count('quittance_chain_expiry_proofs_total', 1, { outcome: 'proven' });
  await deps.executor.release(intent.intent_id, 0);
  await deps.executor.executeNow(intent.intent_id);
};

/** Expires in-flight transactions. The next generation is signed only after the proof. */
export const expireInFlight = async (deps: Deps): Promise<void> => {
  const now = performance.now();
  const sent = deps.inFlight
    .list()
    .filter(({ phase, broadcastAt }) => phase === 'sent' && now - broadcastAt >= LEAST_AGE_MS);
  if (sent.length === 0) return;
  const height = await readFinalizedHeight(deps).catch((error: unknown) => {
    count('quittance_chain_expiry_proofs_total', 1, { outcome: 'unanswered' });
    throw error;
  });
  const past = sent.filter(({ lastValidBlockHeight }) => lastValidBlockHeight < height);
  const results = await Promise.allSettled(
    past.map((transaction) =>
      inTraceOf(transaction.intent.traceparent, () => expire(deps, transaction, height)),
    ),
  );
  for (const result of results) {
    if (result.status === 'fulfilled') continue;
    count('quittance_chain_expiry_proofs_total', 1, { outcome: 'unanswered' });
    deps.logger.warn({ err: result.reason }, 'expiry not proven, trying again');
  }
};
