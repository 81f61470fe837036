import { z } from 'zod';
import { type Pool, sql } from './pool.ts';

/**
 * The database's clock (app_now) without a round trip per read. The times that a process puts into
 * a token agree with those that SQL compares, even if the clock of the machine is wrong.
 */
export type DbClock = {
  /** Epoch milliseconds. */
  now: () => number;
  /** Runs a statement whose answer has the database's time as `now`, and sets the clock by it. */
  setBy: <T extends { now: number }>(statement: () => Promise<T>) => Promise<T>;
};

/** A slower answer is not used: its middle may be half of this time wrong. */
const MAX_ROUND_TRIP_MS = 1000;

/** A clock that is set. The sweep of the outbox keeps it so (shared/events/relay.ts). */
export const createDbClock = async (pool: Pool): Promise<DbClock> => {
  let offsetMs = 0;
  const clock: DbClock = {
    now: () => Math.round(Date.now() + offsetMs),
    setBy: async (statement) => {
      const before = Date.now();
      const answer = await statement();
      const after = Date.now();
      // The middle of the round trip is the best estimate of the time at which the server read its
      // clock.
      if (after - before < MAX_ROUND_TRIP_MS) offsetMs = answer.now - (before + after) / 2;
      return answer;
    },
  };
  await clock.setBy(() => pool.one(sql.type(z.object({ now: z.number() }))`select app_now() as now`));
  return clock;
};
