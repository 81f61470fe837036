import type { Db } from '../../../shared/db/pool.ts';
import { isoTimeOrNull } from '../../../shared/lib/clock.ts';
import { countAttemptsUnderWay } from '../settlements/store/attempts-under-way.ts';

/** Since when payments are paused, and how many accepted ones are under way. */
export const describeIntake = async (db: Db, pausedAt: number | null) => {
  const total = (await countAttemptsUnderWay(db)).find(({ state }) => state === null);
  return { paused_at: isoTimeOrNull(pausedAt), under_way: Number(total?.attempts ?? 0n) };
};
