import type { Pool } from '../../../shared/db/pool.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { idBoundAt } from '../../../shared/lib/id.ts';
import { KEPT_DAYS, purgeConsumptions, purgeUses } from '../record/store/use-sums.ts';

/** Settlements of a statement: a settlement may have a hundred thousand uses. */
const BATCH = 50;
const KEPT_MS = KEPT_DAYS * 86_400_000;

/**
 * Replaces the uses and consumptions of settlements by sums per second, 30 days after their end.
 * Any number of replicas may run it.
 */
export const purgeOldUses =
  ({ pool, clock }: { pool: Pool; clock: Clock }) =>
  async (): Promise<void> => {
    const before = idBoundAt('stl', clock() - KEPT_MS);
    for (const purge of [purgeUses, purgeConsumptions]) {
      let after: string | null = '';
      while (after !== null) after = await purge(pool, { after, before, limit: BATCH });
    }
  };
