import type { Deps } from '../deps.ts';
import { claimIntents } from './store/intents.ts';
import { keepAlive } from './store/workers.ts';

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
