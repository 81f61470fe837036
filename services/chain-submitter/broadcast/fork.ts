import type { Pool } from '../../../shared/db/pool.ts';
import type { Outbox } from '../../../shared/events/relay.ts';
import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import { transition } from '../ledger/transition.ts';
import type { InFlightTransaction } from './in-flight.ts';

type Deps = { pool: Pool; relay: Outbox; logger: Logger; rpc: RpcPool };

/** Whether no provider has the transaction, not even in its history, and all are past its slot. */
const isDroppedByFork = async (
  { rpc }: Pick<Deps, 'rpc'>,
  { signature, slot }: InFlightTransaction,
): Promise<boolean> => {
  const answers = await Promise.all(
    rpc.providers.map((provider) => provider.statuses([signature], { history: true })),
  );
  return answers.every(({ slot: reached, statuses }) => statuses[0] === null && reached > (slot ?? 0));
};

/**
 * Reopens the intent of a confirmed transaction that a fork dropped; the same bytes are sent again
 * (rule 14).
 */
export const reopenIfDropped = async (deps: Deps, transaction: InFlightTransaction): Promise<void> => {
  if (!(await isDroppedByFork(deps, transaction))) return;
  deps.logger.error(
    { intent: transaction.intent.intent_id, signature: transaction.signature },
    'transaction dropped by a fork, broadcasting again',
  );
  // The record changes first: while Postgres is unavailable, the transaction stays as it is
  // recorded.
  await transition(deps, 'fork', [transaction]);
  count('quittance_chain_forks_total', 1);
  transaction.phase = 'sent';
  transaction.slot = null;
  transaction.missedPolls = 0;
  transaction.processed = false;
  transaction.doubtedAt = null;
  transaction.sendAt = 0;
  transaction.broadcastAt = performance.now();
};
