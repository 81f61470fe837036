import { z } from 'zod';
import { type Db, type Pool, sql } from '../../../../shared/db/pool.ts';
import { stateColumn } from '../../../../shared/db/state-column.ts';
import { matching, type Page } from '../../../../shared/lists/page.ts';
import {
  DELEGATE_SIDES,
  type Direction,
  type Movement,
  SIDES,
  type TransactionStatus,
  type TransactionType,
  transactions,
} from '../model/transaction.ts';
import { addDifferences } from './day-sums.ts';
import { inScope, moment, type TransactionScope } from './scope.ts';

/** Whether the state machine applies the reported status to the stored one. */
const isNewer = stateColumn(transactions, sql.fragment`t.status`).allowsBy(sql.fragment`excluded.status`);

/**
 * Records movements in any order: the status and the transaction change by the state machine alone,
 * and the other columns are the same in every event of an object. So events may repeat and arrive
 * out of order, and a rebuild may run at the same time. A call has each object at most once. The
 * same statement adds the difference to the sums of the days.
 */
export const upsertMovements = (db: Db, movements: readonly Movement[]): Promise<unknown> => {
  const rows = movements.map(({ objectId, type, status, txHash, details }) => ({
    object_id: objectId,
    type,
    status,
    tx_hash: txHash,
    from_account_id: details?.fromAccountId,
    to_account_id: details?.toAccountId,
    amount: details?.amountMicro.toString(),
    fee_amount: details?.feeMicro.toString(),
    service_id: details?.serviceId,
    delegate_id: details?.delegateId,
    item: details?.item,
    created_at: details?.createdAt,
  }));
  return db.query(sql.typeAlias('void')`
    with changed as (insert into transactions as t (object_id, type, status, tx_hash, from_account_id, to_account_id, amount, fee_amount,
      service_id, delegate_id, item, created_at)
    select object_id, type, status, tx_hash, from_account_id, to_account_id, amount, fee_amount, service_id, delegate_id,
      item, created_at
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as input(object_id text, type text, status text, tx_hash text,
      from_account_id text, to_account_id text, amount bigint, fee_amount bigint, service_id uuid, delegate_id text,
      item text, created_at timestamptz)
    -- One order for all statements, so that two that write the same rows never deadlock.
    order by object_id
    on conflict (object_id) do update set
      status = case when ${isNewer} then excluded.status else t.status end,
      tx_hash = case when ${isNewer} then coalesce(excluded.tx_hash, t.tx_hash)
        else coalesce(t.tx_hash, excluded.tx_hash) end,
      from_account_id = coalesce(excluded.from_account_id, t.from_account_id),
      to_account_id = coalesce(excluded.to_account_id, t.to_account_id),
      amount = coalesce(excluded.amount, t.amount),
      fee_amount = coalesce(excluded.fee_amount, t.fee_amount),
      service_id = coalesce(excluded.service_id, t.service_id),
      delegate_id = coalesce(excluded.delegate_id, t.delegate_id),
      item = coalesce(excluded.item, t.item),
      created_at = coalesce(excluded.created_at, t.created_at)
    returning old as before, new as after
    ) ${addDifferences}`);
};

/** Erases the queries of the addresses that an account has paid for at vendors elsewhere. */
export const eraseItemQueries = (db: Db, accountId: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update transactions set item = split_part(item, '?', 1)
    where from_account_id = ${accountId} and type = 'payment' and service_id is null and item like '%?%'`);

/**
 * Deletes all transactions and their sums: the first step of a rebuild. Events wait meanwhile. One
 * of a deleted row would add a difference to sums that are gone.
 */
export const deleteTransactions = (pool: Pool): Promise<void> =>
  pool.transaction(async (tx) => {
    await tx.query(sql.typeAlias('void')`lock table transactions in share row exclusive mode`);
    await tx.query(sql.typeAlias('void')`delete from transactions`);
    await tx.query(sql.typeAlias('void')`delete from day_sums`);
  });

const Row = z.object({
  object_id: z.string(),
  type: z.enum(['payment', 'deposit', 'withdrawal', 'refund', 'dev_fund']),
  direction: z.enum(['in', 'out']),
  status: z.enum(transactions.states),
  tx_hash: z.string().nullable(),
  amount: z.bigint(),
  fee_amount: z.bigint(),
  service_id: z.string().nullable(),
  delegate_id: z.string().nullable(),
  item: z.string().nullable(),
  created_at: z.number(),
});
export type TransactionRow = z.infer<typeof Row>;

/**
 * The place of a row in the list, newest first. Of a payment from an account to itself, the
 * outgoing side comes first.
 */
type Place = Pick<TransactionRow, 'created_at' | 'object_id' | 'direction'>;

const nothing = sql.fragment``;

/** The rows after a place. Of two sides of one object, `out` comes first. */
const isAfter = (before: Place, direction: Direction) => {
  const place = sql.fragment`(${moment(before.created_at)}, ${before.object_id})`;
  return before.direction === 'out' && direction === 'in'
    ? sql.fragment`and (created_at, object_id) <= ${place}`
    : sql.fragment`and (created_at, object_id) < ${place}`;
};

/** The scope of a list and its filters. */
type TransactionQuery = {
  scope: TransactionScope;
  type?: TransactionType | undefined;
  direction?: Direction | undefined;
  status?: TransactionStatus | undefined;
  service_id?: string | undefined;
  delegate_id?: string | undefined;
  object_id?: string | undefined;
  tx_hash?: string | undefined;
  fromMs: number | null;
  toMs: number | null;
};

const isDelegates = (side: (typeof SIDES)[number]) => DELEGATE_SIDES.includes(side);

/**
 * A page of the transactions in scope, newest first, and one row more where there is a next page.
 */
export const listTransactions = async (
  db: Db,
  { scope, type, direction, fromMs, toMs, ...filters }: TransactionQuery,
  { before, limit }: Page<Place>,
): Promise<readonly TransactionRow[]> => {
  // Only the payer may know which delegate paid, so a filter by delegate excludes the other sides,
  // even where the id is right.
  const sides = (
    scope.delegate_id === null && filters.delegate_id === undefined ? SIDES : DELEGATE_SIDES
  ).filter(
    (side) =>
      (type === undefined || side.type === type) && (direction === undefined || side.direction === direction),
  );
  if (sides.length === 0) return [];
  const scans = sides.map(
    (side) => sql.fragment`(
      select object_id, type, ${side.direction} as direction, status, tx_hash, amount, fee_amount, service_id::text,
        ${isDelegates(side) ? sql.fragment`delegate_id` : sql.fragment`null::text`} as delegate_id, item,
        created_at
      from transactions
      where ${inScope(scope, side.direction)} and type = ${side.type}
        ${matching(filters)}
        ${fromMs === null ? nothing : sql.fragment`and created_at >= ${moment(fromMs)}`}
        ${toMs === null ? nothing : sql.fragment`and created_at < ${moment(toMs)}`}
        ${before === null ? nothing : isAfter(before, side.direction)}
      order by created_at desc, object_id desc limit ${limit + 1})`,
  );
  return db.any(sql.type(Row)`
    select * from (${sql.join(scans, sql.fragment` union all `)}) as side
    order by created_at desc, object_id desc, direction desc limit ${limit + 1}`);
};
