import { z } from 'zod';
import { type Db, sql } from '../../../shared/db/pool.ts';

export type Spending = { scope: string; period: 'hour' | 'day'; amount: bigint; cap: bigint };

/**
 * Takes amounts from the caps of the running hour or day of different scopes: one conditional statement, so that no
 * sum ever passes its cap, whoever races. In their order; false: that much is not left.
 */
export const takeSpending = async (db: Db, asked: readonly Spending[]): Promise<boolean[]> => {
  const rows = asked.map(({ amount, cap, ...of }) => ({ ...of, amount: String(amount), cap: String(cap) }));
  // In the order of their scopes, so that two workers wait for each other in one direction.
  const taken = await db.anyFirst(sql.type(z.object({ scope: z.string() }))`
    with asked as (
      select scope, date_trunc(period, app_now(), 'UTC') as period, amount, cap
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as asked(scope text, period text, amount bigint, cap bigint)
      where amount <= cap
    )
    insert into spending as s (scope, period, taken)
    select scope, period, amount from asked order by scope
    on conflict (scope, period) do update set taken = s.taken + excluded.taken
      where s.taken + excluded.taken <= (select cap from asked where asked.scope = excluded.scope)
    returning scope`);
  return asked.map(({ scope }) => taken.includes(scope));
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
