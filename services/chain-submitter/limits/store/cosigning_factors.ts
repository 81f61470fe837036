import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';

const Factor = z.object({ factor: z.number() });

/** The factor by which an account's daily number of co-signatures is raised; 1 without a row. */
export const getFactor = async (db: Db, accountId: string): Promise<number> =>
  (await db.maybeOneFirst(sql.type(Factor)`
    select factor from cosigning_factors where account_id = ${accountId}`)) ?? 1;

/** The factor of an account, locked until the transaction ends. */
export const lockFactor = async (tx: Db, accountId: string): Promise<number> => {
  await tx.query(sql.type(z.unknown())`
    select pg_advisory_xact_lock(hashtextextended('cosigning_factor/' || ${accountId}, 0))`);
  return getFactor(tx, accountId);
};

/** Sets the factor of an account. The default of 1 deletes its row. */
export const upsertFactor = (tx: Db, accountId: string, factor: number): Promise<unknown> =>
  factor === 1
    ? tx.query(sql.typeAlias('void')`delete from cosigning_factors where account_id = ${accountId}`)
    : tx.query(sql.typeAlias('void')`
        insert into cosigning_factors (account_id, factor) values (${accountId}, ${factor}::int)
        on conflict (account_id) do update set factor = excluded.factor`);
