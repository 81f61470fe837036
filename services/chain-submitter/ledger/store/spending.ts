import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';

/** An amount of a scope's budget, of the day that begins at `startsAt` (epoch milliseconds). */
export type SpendingClaim = { scope: string; startsAt: number; amount: bigint; cap: bigint };

/**
 * Parts of the statement that commits signed bytes (`./commit-signed.ts`). They reserve the
 * claims of the rows of `s`, for each scope as a whole. Most commits claim nothing and use
 * NO_SPENDING_CLAIMS.
 */
export const SPENDING_CLAIMS = {
  claimed: sql.fragment`, claims as (
      select scope, period, sum(lamports)::bigint as lamports, min(cap) as cap
      from s where scope is not null group by scope, period
    ), reserved as (
      insert into spending as b (scope, period, reserved)
      select scope, period, lamports from claims where lamports <= cap order by scope, period
      on conflict (scope, period) do update set reserved = b.reserved + excluded.reserved
        where b.reserved + excluded.reserved <= (
          select cap from claims where claims.scope = excluded.scope and claims.period = excluded.period)
      returning scope, period
    ), over as (
      select intent_id from s where scope is not null and (scope, period) not in (select scope, period from reserved)
    )`,
  within: sql.fragment`and s.intent_id not in (select intent_id from over)`,
  refused: sql.fragment`union all select intent_id, null, true from over`,
};
export const NO_SPENDING_CLAIMS = {
  claimed: sql.fragment``,
  within: sql.fragment``,
  refused: sql.fragment``,
};

/** What is reserved in the current day, by scope. */
export const sumReserved = async (
  db: Db,
  scopes: readonly string[],
): Promise<ReadonlyMap<string, bigint>> => {
  const rows = await db.any(sql.type(z.object({ scope: z.string(), reserved: z.bigint() }))`
    select scope, reserved from spending
    where scope = any(${sql.array([...scopes], 'text')}) and period = date_trunc('day', app_now(), 'UTC')`);
  return new Map(rows.map(({ scope, reserved }) => [scope, reserved]));
};
