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
  item: z.string().nullable(),
  created_at: z.number(),
});
export type MovementRow = z.infer<typeof Row>;

/**
 * A transfer that a fork removed and that is broadcast again still counts as confirmed. It is
 * reversed once it is proven that it cannot be included any more.
 */
const status = sql.fragment`case status when 'finalized' then 'finalized' when 'failed' then 'reversed' else 'confirmed' end`;

/**
 * Every transfer that was ever confirmed, of all kinds. Its time is that of its first confirmation:
 * a refund waits a day for its signature, and a deposit may take days. Test funds have the time of
 * their request, a moment before.
 */
const movements = sql.fragment`
  select 'dev_fund' as type, fund_id as object_id, ${status} as status, tx_hash, amount,
    null::text as from_account_id, account_id as to_account_id, null::uuid as service_id, null::text as delegate_id, null::text as item,
    created_at
  from dev_funds where slot is not null and tx_hash is not null
  union all
  select 'withdrawal', withdrawal_id, ${status}, tx_hash, amount, account_id, null, null, null, null, confirmed_at
  from withdrawals where slot is not null and tx_hash is not null
  union all
  select 'refund', refund_id, ${status}, tx_hash, amount, vendor_account_id, payer_account_id, service_id, delegate_id, item,
    confirmed_at
  from refunds where slot is not null and tx_hash is not null
  union all
  select 'deposit', deposit_id, 'finalized', tx_hash, amount, null, account_id, null, null, null, completed_at
  from deposits where status = 'completed'`;

const columns = sql.fragment`type, object_id, status, tx_hash, amount, from_account_id, to_account_id, service_id,
  delegate_id, item, created_at`;

/** The movement of an object, or null when none of its transactions was ever confirmed. */
export const findMovement = (db: Db, objectId: string): Promise<MovementRow | null> =>
  db.maybeOne(sql.type(Row)`select ${columns} from (${movements}) movements where object_id = ${objectId}`);

/** A page of all movements in the order of their object ids, from the first id after `after`. */
export const listMovements = (
  db: Db,
  { after, limit }: { after: string | null; limit: number },
): Promise<readonly MovementRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from (${movements}) movements
    ${after === null ? sql.fragment`` : sql.fragment`where object_id > ${after}`}
    order by object_id limit ${limit}`);
