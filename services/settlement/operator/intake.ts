import type { Db } from '../../../shared/db/pool.ts';
import { isoTimeOrNull } from '../../../shared/lib/clock.ts';
import { countAttemptsUnderWay } from '../record/store/attempts-under-way.ts';

/**
 * Since when payments are paused, and how many accepted ones are under way. An authorization can
 * stay open for days and needs no work until it is due, so it is counted separately.
 */
export const describeIntake = async (db: Db, pausedAt: number | null) => {
  const counted = await countAttemptsUnderWay(db);
  const of = (wanted: string | null) => Number(counted.find(({ state }) => state === wanted)?.attempts ?? 0n);
  const authorized = of('authorized');
  return { paused_at: isoTimeOrNull(pausedAt), under_way: of(null) - authorized, authorized };
};
