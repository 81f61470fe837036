import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';

const Factor = z.object({ factor: z.number() });

/** How many times the usual number of co-signatures an account may have a day. */
export const findFactor = async (db: Db, accountId: string): Promise<number> =>
  (await db.maybeOneFirst(sql.type(Factor)`
    select factor from cosigning_factors where account_id = ${accountId}`)) ?? 1;

/** The same, locked against another change until the transaction ends. */
export const lockFactor = async (tx: Db, accountId: string): Promise<number> => {
  await tx.query(sql.type(z.unknown())`
    select pg_advisory_xact_lock(hashtextextended('cosigning_factor/' || ${accountId}, 0))`);
  return findFactor(tx, accountId);
};

/** Writes the factor of an account; 1 is everybody's and deletes it. */
export const upsertFactor = (tx: Db, accountId: string, factor: number): Promise<unknown> =>
  factor === 1
    ? tx.query(sql.typeAlias('void')`delete from cosigning_factors where account_id = ${accountId}`)
    : tx.query(sql.typeAlias('void')`
        insert into cosigning_factors (account_id, factor) values (${accountId}, ${factor}::int)
        on conflict (account_id) do update set factor = excluded.factor`);

/** Whether a refund of the settlement has used the co-signature that the settlement has paid for. */
export const isRefundCosigned = (db: Db, settlementId: string): Promise<boolean> =>
  db.oneFirst(sql.type(z.object({ used: z.boolean() }))`
    select exists (select from refund_cosignatures where settlement_id = ${settlementId}) as used`);

/** Uses it for a refund. False: another refund has. */
export const insertRefundCosignature = async (
  tx: Db,
  settlementId: string,
  refundId: string,
): Promise<boolean> =>
  (await tx.maybeOne(sql.typeAlias('id')`
    insert into refund_cosignatures (settlement_id, refund_id) values (${settlementId}, ${refundId})
    on conflict do nothing returning settlement_id as id`)) !== null;
