import type { Pool } from '../../../shared/db/pool.ts';
import { purgeSecrets } from '../endpoints/store.ts';
import { purgeEvents } from './store.ts';

const BATCH = 1000;

/**
 * Deletes old events with their deliveries, and secrets whose overlap has ended. Any number of
 * replicas may run it.
 */
export const purge =
  ({ pool }: { pool: Pool }) =>
  async (): Promise<void> => {
    await purgeSecrets(pool);
    while ((await purgeEvents(pool, BATCH)) === BATCH);
  };
