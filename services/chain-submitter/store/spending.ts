import { z } from 'zod';
import { type Db, sql } from '../../../shared/db/pool.ts';

/**
 * Takes an amount from a scope's cap of the running hour or day: one conditional statement, so that the sum never
 * passes the cap, whoever races. False: that much is not left.
 */
export const takeSpending = async (
  db: Db,
  { scope, period, amount, cap }: { scope: string; period: 'hour' | 'day'; amount: bigint; cap: bigint },
): Promise<boolean> => {
  if (amount > cap) return false;
  const row = await db.maybeOne(sql.type(z.object({ taken: z.bigint() }))`
    insert into spending as s (scope, period, taken)
    values (${scope}, date_trunc(${period}, app_now(), 'UTC'), ${amount})
    on conflict (scope, period) do update set taken = s.taken + ${amount} where s.taken + ${amount} <= ${cap}
    returning taken`);
  return row !== null;
};

/** Whether an amount is left of a scope's cap of the running hour or day; takes nothing. */
export const isSpendingLeft = async (
  db: Db,
  { scope, period, amount, cap }: { scope: string; period: 'hour' | 'day'; amount: bigint; cap: bigint },
): Promise<boolean> => {
  const row = await db.maybeOne(sql.type(z.object({ taken: z.bigint() }))`
    select taken from spending
    where scope = ${scope} and period = date_trunc(${period}, app_now(), 'UTC')`);
  return (row?.taken ?? 0n) + amount <= cap;
};

/** Forgets periods that are over. */
export const dropOldSpending = (db: Db): Promise<unknown> =>
  db.query(sql.typeAlias('void')`delete from spending where period < app_now() - interval '2 days'`);
