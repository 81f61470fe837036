import type { Pool } from '../../../shared/db/pool.ts';
import type { Outbox } from '../../../shared/events/relay.ts';
import { failpoint } from '../../../shared/lib/failpoint.ts';
import type { Logger } from '../../../shared/lib/logger.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import type { Network } from '../ledger/model/network.ts';
import { transition } from '../ledger/transition.ts';
import { isCorroborated, type Witness } from './agreement.ts';
import { type InFlightTransaction, type InFlightTransactions, toChange } from './in-flight.ts';
import { compareViews, findConfirmedView } from './model/agreement.ts';
import { FINALITY_POLL_MS, onFinalityGrid, RETRY_POLL_MS } from './poll-interval.ts';
import type { Observation } from './signature-statuses.ts';

type Deps = {
  pool: Pool;
  relay: Outbox;
  logger: Logger;
  network: Network;
  rpc: RpcPool;
  inFlight: InFlightTransactions;
};

/** When a transaction that is not confirmed yet is polled again. */
export const nextPollAt = (
  { inFlight }: Pick<Deps, 'inFlight'>,
  { broadcastAt }: InFlightTransaction,
): number => {
  const now = performance.now();
  return now + inFlight.pollInterval.pauseMs(now - broadcastAt);
};

const confirm = async (deps: Deps, confirmed: readonly Observation[]): Promise<void> => {
  if (confirmed.length === 0) return;
  try {
    await transition(
      deps,
      'confirm',
      confirmed.map(({ transaction }) => toChange(transaction)),
    );
  } catch (error) {
    for (const { transaction } of confirmed) transaction.pollAt = performance.now() + RETRY_POLL_MS;
    throw error;
  }
  for (const { transaction, views } of confirmed) {
    transaction.phase = 'confirmed';
    transaction.missedPolls = 0;
    transaction.doubtedAt = null;
    // No caller waits for finality, so it is polled with the other confirmed transactions.
    transaction.pollAt = onFinalityGrid(compareViews(views) === 'finalized' ? 0 : FINALITY_POLL_MS);
  }
  await failpoint('submitter.afterConfirm');
};

/**
 * Collects the transactions that are corroborated in one turn of the event loop, to confirm them by
 * one statement.
 */
export type ConfirmationBatch = Observation[];

/** Confirms a transaction that another provider corroborates, with all others of the same turn. */
export const confirmIfCorroborated = async (
  deps: Deps,
  observation: Observation,
  {
    witness,
    polledAt,
    batch,
  }: { witness: Promise<Witness> | undefined; polledAt: number; batch: ConfirmationBatch },
): Promise<void> => {
  const { transaction, views } = observation;
  let agreed = false;
  try {
    agreed = await isCorroborated(deps, observation, witness);
  } finally {
    if (!agreed) transaction.pollAt = nextPollAt(deps, transaction);
  }
  if (!agreed || !deps.inFlight.isCurrent(transaction) || transaction.phase !== 'sent') return;
  if (transaction.wire.length > 0) deps.inFlight.pollInterval.record(polledAt - transaction.broadcastAt);
  // The corroborated slot counts, whatever another view reports.
  transaction.slot = findConfirmedView(views)!.status!.slot;
  batch.push(observation);
  if (batch.length > 1) return;
  await Promise.resolve();
  await confirm(deps, batch.splice(0));
};
