import { z } from 'zod';
import { type Db, sql } from '../../../shared/db/pool.ts';

const Row = z.object({
  type: z.enum(['deposit', 'withdrawal', 'refund', 'dev_fund']),
  object_id: z.string(),
  status: z.enum(['confirmed', 'finalized', 'reversed']),
  tx_hash: z.string(),
  amount: z.bigint(),
  from_account_id: z.string().nullable(),
  to_account_id: z.string().nullable(),
  service_id: z.string().nullable(),
  delegate_id: z.string().nullable(),
  created_at: z.number(),
});
export type MovedRow = z.infer<typeof Row>;

/** Forked away and driven again counts as confirmed still: it is reversed when that is proven to be in vain. */
const status = sql.fragment`case status when 'finalized' then 'finalized' when 'failed' then 'reversed' else 'confirmed' end`;

/**
 * Every transfer that was ever confirmed, of all kinds. It is listed under the time it was asked for, seconds or minutes
 * before it landed; a deposit, which may take days, under the time its transfer was seen.
 */
const moved = sql.fragment`
  select 'dev_fund' as type, fund_id as object_id, ${status} as status, tx_hash, amount,
    null::text as from_account_id, account_id as to_account_id, null::uuid as service_id, null::text as delegate_id, created_at
  from dev_funds where slot is not null and tx_hash is not null
  union all
  select 'withdrawal', withdrawal_id, ${status}, tx_hash, amount, account_id, null, null, null, created_at
  from withdrawals where slot is not null and tx_hash is not null
  union all
  select 'refund', refund_id, ${status}, tx_hash, amount, vendor_account_id, payer_account_id, service_id, delegate_id, created_at
  from refunds where slot is not null and tx_hash is not null
  union all
  select 'deposit', deposit_id, 'finalized', tx_hash, amount, null, account_id, null, null, completed_at
  from deposits where status = 'completed'`;

const columns = sql.fragment`type, object_id, status, tx_hash, amount, from_account_id, to_account_id, service_id,
  delegate_id, created_at`;

/** What has moved by an object, or null when nothing of it was ever confirmed. */
export const movedBy = (db: Db, objectId: string): Promise<MovedRow | null> =>
  db.maybeOne(sql.type(Row)`select ${columns} from (${moved}) moved where object_id = ${objectId}`);

/** All of it after an id, in the order of ids. */
export const listMovedRows = (
  db: Db,
  { after, limit }: { after: string | null; limit: number },
): Promise<readonly MovedRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from (${moved}) moved
    ${after === null ? sql.fragment`` : sql.fragment`where object_id > ${after}`}
    order by object_id limit ${limit}`);
