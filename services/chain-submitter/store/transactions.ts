import { z } from 'zod';
import { type Db, sql } from '../../../shared/db/pool.ts';

/** Whether these bytes were committed: asked when the answer to a commit was lost. */
export const isCommitted = (db: Db, signature: string): Promise<boolean> =>
  db.oneFirst(
    sql.type(z.object({ there: z.boolean() }))`
      select exists (select from transactions where signature = ${signature} and status = 'live') as there`,
  );

/** Marks a generation as proven dead by its expiry (rule 11). True when it was this call that did. */
export const expireTransaction = async (db: Db, signature: string): Promise<boolean> => {
  const row = await db.maybeOne(sql.type(z.object({ signature: z.string() }))`
    update transactions set status = 'expired' where signature = ${signature} and status = 'live'
    returning signature`);
  return row !== null;
};

/** The intent that signed a transaction, or null for one that this database does not know. */
export const intentOf = (db: Db, signature: string): Promise<string | null> =>
  db.maybeOneFirst(
    sql.type(z.object({ intent_id: z.string() }))`
      select intent_id from transactions where signature = ${signature}`,
  );

const Signed = z.object({
  signature: z.string(),
  generation: z.number(),
  status: z.string(),
  last_valid_block_height: z.bigint().transform(Number),
});
export type SignedRow = z.infer<typeof Signed>;

/** Every transaction that was ever signed for an intent, the first first. */
export const transactionsOf = (db: Db, intentId: string): Promise<readonly SignedRow[]> =>
  db.any(sql.type(Signed)`
    select signature, generation, status, last_valid_block_height
    from transactions where intent_id = ${intentId} order by generation`);
