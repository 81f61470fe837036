import type { Pool } from '../../../shared/db/pool.ts';
import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import type { InFlightTransactions } from '../broadcast/in-flight.ts';
import { claimIntents } from '../ledger/store/intents.ts';
import { upsertWorker } from '../ledger/store/workers.ts';
import type { Executor } from './executor.ts';

type Deps = {
  pool: Pool;
  workerId: string;
  inFlight: InFlightTransactions;
  executor: Pick<Executor, 'execute'>;
  logger: Logger;
};

const BATCH = 100;

/** The pause between two sweeps while the process is active (shared/lib/activity.ts). */
export const SWEEP_EVERY_MS = 1000;

/**
 * The sweeper (rule 16): renews this worker's registration and claims every open intent without a
 * lease. The intents of a dead worker are claimed once its registration lapses, and released
 * intents once their delay is over.
 * @param nextWithinMs the longest time until the next sweep
 * @returns whether this worker has intents
 */
export const sweep = async (
  { pool, workerId, inFlight, executor, logger }: Deps,
  nextWithinMs = SWEEP_EVERY_MS,
): Promise<boolean> => {
  await upsertWorker(pool, workerId, nextWithinMs);
  const claimed = await claimIntents(pool, { workerId, executing: inFlight.intentIds(), limit: BATCH });
  if (claimed.length > 0) logger.info({ intents: claimed.length }, 'open intents claimed');
  for (const intent of claimed) executor.execute(intent);
  return inFlight.intentIds().length > 0;
};
