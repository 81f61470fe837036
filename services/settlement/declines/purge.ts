import type { Pool } from '../../../shared/db/pool.ts';
import { purgeDeclines, purgeExhaustedLimits } from './store.ts';

const BATCH = 1000;

/** Deletes declines after 90 days. Any number of replicas may run it. */
export const purgeOldDeclines =
  ({ pool }: { pool: Pool }) =>
  async (): Promise<void> => {
    await purgeExhaustedLimits(pool);
    while ((await purgeDeclines(pool, BATCH)) === BATCH);
  };
