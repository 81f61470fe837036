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
  executor: Executor;
  logger: Logger;
};

const BATCH = 100;

/**
 * The sweeper (rule 16): says that this worker lives, then takes every open intent that is nobody's. What a dead
 * worker left is taken as soon as it counts as dead, what rests when its rest is over.
 */
export const sweep = async ({ pool, workerId, inFlight, executor, logger }: Deps): Promise<void> => {
  await upsertWorker(pool, workerId);
  const claimed = await claimIntents(pool, { workerId, executing: inFlight.ids(), limit: BATCH });
  if (claimed.length > 0) logger.info({ intents: claimed.length }, 'taken up again');
  for (const intent of claimed) executor.drive(intent);
};
