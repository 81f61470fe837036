import { z } from 'zod';
import type { Logger } from '../lib/logger.ts';
import { everyMs, type Periodic } from '../lib/periodic.ts';
import { type Pool, sql } from './pool.ts';

/**
 * The database's clock (app_now) without a round trip per read. The times that a process puts into
 * a token agree with those that SQL compares, even if the clock of the machine is wrong.
 */
export type DbClock = Periodic & { now: () => number };

const REFRESH_MS = 1000;

export const startDbClock = async (pool: Pool, logger: Logger): Promise<DbClock> => {
  let offsetMs = 0;
  const refresh = async () => {
    const before = Date.now();
    const dbNow = await pool.oneFirst(sql.type(z.object({ now: z.number() }))`select app_now() as now`);
    const after = Date.now();
    // The middle of the round trip is the best estimate of the time at which the server read its
    // clock.
    if (after - before < REFRESH_MS) offsetMs = dbNow - (before + after) / 2;
  };
  await refresh();
  const periodic = everyMs(REFRESH_MS, 'clock', refresh, logger);
  return { now: () => Math.round(Date.now() + offsetMs), stop: periodic.stop };
};
