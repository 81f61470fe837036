import type { Pool } from '../../../shared/db/pool.ts';
import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import { inTraceOf } from '../../../shared/lib/telemetry/trace.ts';
import { BLOCKHASH_BLOCKS } from '../chain/blockhashes.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import { searchOf } from '../ledger/model/order.ts';
import { expireTransaction } from '../ledger/store/transactions.ts';
import { recordDoubt } from './agreement.ts';
import { type ChainAge, proveExpiry, readChainAge, readSignatureTrace } from './expiry-proof.ts';
import { type InFlightTransaction, type InFlightTransactions, planPoll } from './in-flight.ts';

type Deps = {
  pool: Pool;
  logger: Logger;
  rpc: RpcPool;
  inFlight: InFlightTransactions;
  /** Executes the intent of an expired transaction. It is above this folder, so it is handed in. */
  executor: {
    release: (intentId: string, waitMs: number) => Promise<void>;
    executeNow: (intentId: string) => Promise<void>;
  };
};

/** Younger bytes cannot have expired on any chain. */
const LEAST_AGE_MS = 1000;

/**
 * No blockhash that exists is valid for longer. The newest one is some 32 blocks ahead of the
 * finalized ones, and a provider may lag.
 */
const LONGEST_VALID_BLOCKS = 2 * BLOCKHASH_BLOCKS;

/**
 * Lowers a last block that is impossibly far ahead, so that the bytes can expire when the provider
 * that named it was removed.
 */
const correctLastValid = (transaction: InFlightTransaction, { highest }: ChainAge): void => {
  const { lastValidBlockHeight } = transaction;
  transaction.lastValidBlockHeight = Math.min(lastValidBlockHeight, highest + LONGEST_VALID_BLOCKS);
};

/**
 * Whether no provider has a reason against the expiry. Another transaction under the reference is
 * none: the executor adopts it next.
 */
const isExpired = async (deps: Deps, transaction: InFlightTransaction, age: ChainAge): Promise<boolean> => {
  const { signature, order, lastValidBlockHeight } = transaction;
  const proof = await proveExpiry(age, transaction, () =>
    readSignatureTrace(deps, signature, searchOf(order)),
  );
  if (proof === 'expired') return true;
  if (proof === 'early') return false;
  if (proof === 'valid') {
    recordDoubt(deps, transaction, [{ finalized: age.height, lastValidBlockHeight, blockhash: 'valid' }]);
    return false;
  }
  count('quittance_chain_expiry_proofs_total', 1, { outcome: 'refuted' });
  // A provider has a trace of it, possibly from before its status cache: the next poll searches
  // the history.
  transaction.missedPolls += 1;
  planPoll(transaction, 0);
  return false;
};

const expire = async (deps: Deps, transaction: InFlightTransaction, age: ChainAge): Promise<void> => {
  const { intent, signature, generation } = transaction;
  if (!deps.inFlight.isCurrent(transaction) || !(await isExpired(deps, transaction, age))) return;
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
  const age = await readChainAge(deps).catch((error: unknown) => {
    count('quittance_chain_expiry_proofs_total', 1, { outcome: 'unanswered' });
    throw error;
  });
  for (const transaction of sent) correctLastValid(transaction, age);
  const past = sent.filter(({ lastValidBlockHeight }) => lastValidBlockHeight < age.height);
  const results = await Promise.allSettled(
    past.map((transaction) =>
      inTraceOf(transaction.intent.traceparent, () => expire(deps, transaction, age)),
    ),
  );
  for (const result of results) {
    if (result.status === 'fulfilled') continue;
    count('quittance_chain_expiry_proofs_total', 1, { outcome: 'unanswered' });
    deps.logger.warn({ err: result.reason }, 'expiry not proven, trying again');
  }
};
