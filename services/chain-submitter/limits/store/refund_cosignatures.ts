import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';

/** Whether a refund has used the co-signature that its settlement has paid for. */
export const isRefundCosigned = (db: Db, settlementId: string): Promise<boolean> =>
  db.oneFirst(sql.type(z.object({ used: z.boolean() }))`
    select exists (select from refund_cosignatures where settlement_id = ${settlementId}) as used`);

/** Uses the settlement's co-signature for a refund. False: another refund has used it. */
export const insertRefundCosignature = async (
  tx: Db,
  settlementId: string,
  refundId: string,
): Promise<boolean> =>
  (await tx.maybeOne(sql.typeAlias('id')`
    insert into refund_cosignatures (settlement_id, refund_id) values (${settlementId}, ${refundId})
    on conflict do nothing returning settlement_id as id`)) !== null;
