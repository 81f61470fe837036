import type { Pool } from '../../../shared/db/pool.ts';
import type { Logger } from '../../../shared/lib/logger.ts';
import type { InFlightTransactions } from '../broadcast/in-flight.ts';
import type { Executor } from './executor.ts';
import { claimIntents } from './store/intents.ts';
import { upsertWorker } from './store/workers.ts';

type Deps = {
  pool: Pool;
  workerId: string;
  inFlight: InFlightTransactions;
  executor: Pick<Executor, 'execute'>;
  logger: Logger;
};

const BATCH = 100;

/**
 * The sweeper (rule 16): renews this worker's registration and claims every open intent without a
 * lease. The intents of a dead worker are claimed once its registration lapses, and released
 * intents once their delay is over.
 */
export const sweep = async ({ pool, workerId, inFlight, executor, logger }: Deps): Promise<void> => {
  await upsertWorker(pool, workerId);
  const claimed = await claimIntents(pool, { workerId, executing: inFlight.intentIds(), limit: BATCH });
  if (claimed.length > 0) logger.info({ intents: claimed.length }, 'open intents claimed');
  for (const intent of claimed) executor.execute(intent);
};
