import { z } from 'zod';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { stateColumn } from '../../../shared/db/state-column.ts';
import { matching, type Page } from '../../../shared/lists/page.ts';
import {
  DELEGATE_SIDES,
  type Direction,
  type Movement,
  SIDES,
  type TransactionStatus,
  type TransactionType,
  transactions,
} from './model/transaction.ts';

/** Whether the state machine applies the reported status to the stored one. */
const isNewer = stateColumn(transactions, sql.fragment`t.status`).allowsBy(sql.fragment`excluded.status`);

/**
 * Records movements in any order: the status and the transaction change by the state machine alone,
 * and the other columns are the same in every event of an object. So events may repeat and arrive
 * out of order, and a rebuild may run at the same time. A call has each object at most once.
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
    insert into transactions as t (object_id, type, status, tx_hash, from_account_id, to_account_id, amount, fee_amount,
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
      created_at = coalesce(excluded.created_at, t.created_at)`);
};

/**
 * Claims payments whose events are minutes late, where the chain takes seconds: those without a
 * final event, and those without their first event.
 */
export const claimIncompletePayments = async (db: Db, limit: number): Promise<string[]> => {
  const rows = await db.any(sql.typeAlias('id')`
    update transactions set queried_at = app_now()
    where object_id in (
      select object_id from transactions
      where type = 'payment' and (status = 'confirmed' or created_at is null)
        and queried_at < app_now() - interval '2 minutes'
      order by queried_at limit ${limit} for update skip locked)
    returning object_id as id`);
  return rows.map(({ id }) => id);
};

/** Erases the queries of the addresses that an account has paid for at vendors elsewhere. */
export const eraseItemQueries = (db: Db, accountId: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update transactions set item = split_part(item, '?', 1)
    where from_account_id = ${accountId} and type = 'payment' and service_id is null and item like '%?%'`);

/** Deletes all transactions: the first step of a rebuild. */
export const deleteTransactions = (db: Db): Promise<unknown> =>
  db.query(sql.typeAlias('void')`delete from transactions`);

/**
 * Which transactions a caller may see: those of an account, or of one delegate of it. It is part of
 * the query, so that a forgotten check finds nothing.
 */
export type TransactionScope = { account_id: string; delegate_id: string | null };

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

const moment = (ms: number) => sql.fragment`to_timestamp(${ms}::float8 / 1000)`;
const nothing = sql.fragment``;

const inScope = ({ account_id, delegate_id }: TransactionScope, direction: Direction) => {
  const account =
    direction === 'out'
      ? sql.fragment`from_account_id = ${account_id}`
      : sql.fragment`to_account_id = ${account_id}`;
  return delegate_id === null ? account : sql.fragment`delegate_id = ${delegate_id} and ${account}`;
};

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

type GroupBy = 'day' | 'service' | 'delegate';
const KEYS = {
  day: sql.fragment`(created_at at time zone 'UTC')::date`,
  service: sql.fragment`service_id`,
  delegate: sql.fragment`delegate_id`,
} as const;

const Group = z.object({
  /** True for the row that sums all groups. */
  total: z.boolean(),
  key: z.string().nullable(),
  spent: z.bigint(),
  fees: z.bigint(),
  payment_count: z.bigint(),
});

const within = ({ fromMs, toMs }: { fromMs: number; toMs: number }) =>
  sql.fragment`status <> 'reversed' and created_at >= ${moment(fromMs)} and created_at < ${moment(toMs)}`;

/** The payments of a period: the total first, then the groups by what was spent, largest first. */
export const sumSpending = (
  db: Db,
  scope: TransactionScope,
  period: { fromMs: number; toMs: number },
  { groupBy, limit }: { groupBy: GroupBy; limit: number },
): Promise<readonly z.infer<typeof Group>[]> =>
  db.any(sql.type(Group)`
    select grouping(key) = 1 as total, key::text as key, coalesce(sum(amount), 0)::bigint as spent,
      coalesce(sum(fee_amount), 0)::bigint as fees, count(*) as payment_count
    from (
      select ${KEYS[groupBy]} as key, amount, fee_amount from transactions
      where ${inScope(scope, 'out')} and type = 'payment' and ${within(period)}
    ) as payment
    group by grouping sets ((key), ())
    order by total desc, spent desc, key limit ${limit + 1}`);

/** The refunds that were received in a period, micro-units. */
export const sumRefunds = (
  db: Db,
  scope: TransactionScope,
  period: { fromMs: number; toMs: number },
): Promise<bigint> =>
  db.oneFirst(sql.type(z.object({ refunded: z.bigint() }))`
    select coalesce(sum(amount), 0)::bigint as refunded from transactions
    where ${inScope(scope, 'in')} and type = 'refund' and ${within(period)}`);
