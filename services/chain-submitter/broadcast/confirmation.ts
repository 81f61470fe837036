import type { Pool } from '../../../shared/db/pool.ts';
import type { Outbox } from '../../../shared/events/relay.ts';
import { failpoint } from '../../../shared/lib/failpoint.ts';
import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import type { Network } from '../ledger/model/network.ts';
import { transition } from '../ledger/transition.ts';
import { isCorroborated, type Witness } from './agreement.ts';
import { type InFlightTransaction, type InFlightTransactions, isSendable, writing } from './in-flight.ts';
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

const confirm = async (deps: Deps, confirmed: readonly InFlightTransaction[]): Promise<void> => {
  await transition(deps, 'confirm', confirmed);
  for (const transaction of confirmed) {
    transaction.phase = 'confirmed';
    transaction.missedPolls = 0;
    transaction.doubtedAt = null;
  }
  await failpoint('submitter.afterConfirm');
};

/**
 * Collects the transactions that are corroborated in one turn of the event loop, to confirm them by
 * one statement.
 */
export type ConfirmationBatch = { corroborated: InFlightTransaction[]; written: Promise<void> };
export const createBatch = (): ConfirmationBatch => ({ corroborated: [], written: Promise.resolve() });

const confirmInBatch = (
  deps: Deps,
  transaction: InFlightTransaction,
  batch: ConfirmationBatch,
): Promise<void> => {
  const isFirst = batch.corroborated.push(transaction) === 1;
  // The first one reports a failure of the statement.
  if (!isFirst) return batch.written.catch(() => {});
  batch.written = Promise.resolve().then(() => confirm(deps, batch.corroborated.splice(0)));
  return batch.written;
};

/** Confirms a transaction that another provider corroborates, with all others of the same turn. */
export const confirmIfCorroborated = (
  deps: Deps,
  observation: Observation,
  {
    witness,
    polledAt,
    batch,
  }: { witness: Promise<Witness> | undefined; polledAt: number; batch: ConfirmationBatch },
): Promise<void> => {
  const { transaction, views } = observation;
  const { inFlight } = deps;
  let agreed = false;
  const work = async () => {
    agreed = await isCorroborated(deps, observation, witness);
    if (!agreed || !inFlight.isCurrent(transaction) || transaction.phase !== 'sent') return;
    if (isSendable(transaction)) inFlight.pollInterval.record(polledAt - transaction.broadcastAt);
    // The corroborated slot counts, whatever another view reports.
    transaction.slot = findConfirmedView(views)!.status!.slot;
    await confirmInBatch(deps, transaction, batch);
  };
  const next = () => {
    if (!agreed) return nextPollAt(deps, transaction);
    if (transaction.phase === 'sent') return performance.now() + RETRY_POLL_MS;
    // No caller waits for finality, so it is polled with the other confirmed transactions.
    return onFinalityGrid(compareViews(views) === 'finalized' ? 0 : FINALITY_POLL_MS);
  };
  return writing([transaction], work, next);
};
