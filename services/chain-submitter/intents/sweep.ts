import type { Pool } from '../../../shared/db/pool.ts';
import type { Logger } from '../../../shared/lib/logger.ts';
import type { Flights } from '../broadcast/in-flight.ts';
import type { Driver } from './executor.ts';
import { claimIntents } from './store/intents.ts';
import { keepAlive } from './store/workers.ts';

type Deps = {
  pool: Pool;
  workerId: string;
  flights: Flights;
  driver: Driver;
  logger: Logger;
};

const BATCH = 100;

/**
 * The sweeper (rule 16): says that this worker lives, then takes every open intent that is nobody's. What a dead
 * worker left is taken as soon as it counts as dead, what rests when its rest is over.
 */
export const reconcile = async ({ pool, workerId, flights, driver, logger }: Deps): Promise<void> => {
  await keepAlive(pool, workerId);
  const claimed = await claimIntents(pool, { workerId, driving: flights.ids(), limit: BATCH });
  if (claimed.length > 0) logger.info({ intents: claimed.length }, 'taken up again');
  for (const intent of claimed) driver.drive(intent);
};
