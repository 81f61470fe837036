import { z } from 'zod';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { type Page, pageBy } from '../../../shared/lists/page.ts';

const Row = z.object({
  delegate_id: z.string(),
  account_id: z.string(),
  name: z.string(),
  wallet_id: z.string(),
  expires_at: z.number().nullable(),
  expired: z.boolean(),
  created_at: z.number(),
});
export type DelegateRow = z.infer<typeof Row>;

const columns = sql.fragment`delegate_id, account_id, name, wallet_id, expires_at,
  coalesce(expires_at <= app_now(), false) as expired, created_at`;
const timeOf = (epochMs: number | null) =>
  epochMs === null ? sql.fragment`null::timestamptz` : sql.fragment`to_timestamp(${epochMs}::float8 / 1000)`;

/** Writes a new delegate. Times are epoch milliseconds. */
export const insertDelegate = (db: Db, row: Omit<DelegateRow, 'expired'>): Promise<DelegateRow> =>
  db.one(sql.type(Row)`
    insert into delegates (delegate_id, account_id, name, wallet_id, expires_at, created_at)
    values (${row.delegate_id}, ${row.account_id}, ${row.name}, ${row.wallet_id}, ${timeOf(row.expires_at)},
      ${timeOf(row.created_at)})
    returning ${columns}`);

/** The account's delegate, or null: another's and a deleted one do not exist. */
export const findOwnDelegate = (db: Db, accountId: string, delegateId: string): Promise<DelegateRow | null> =>
  db.maybeOne(sql.type(Row)`
    select ${columns} from delegates
    where account_id = ${accountId} and delegate_id = ${delegateId} and deleted_at is null`);

/** A page of the account's delegates, newest first, and one more. */
export const listOwnDelegates = (
  db: Db,
  { account_id }: { account_id: string },
  page: Page,
): Promise<readonly DelegateRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from delegates
    where account_id = ${account_id} and deleted_at is null ${pageBy('delegate_id', page)}`);

/**
 * Changes name and expiry, or null when there is no such delegate, or when it would live longer and `mayExtend` is
 * false: judged by the statement, since another call may have shortened it since it was read.
 */
export const updateDelegateRow = (
  db: Db,
  accountId: string,
  delegateId: string,
  change: { name: string | undefined; expires_at: number | null | undefined; mayExtend: boolean },
): Promise<DelegateRow | null> => {
  const expiry = change.expires_at === undefined ? sql.fragment`expires_at` : timeOf(change.expires_at);
  return db.maybeOne(sql.type(Row)`
    update delegates set name = coalesce(${change.name ?? null}, name), expires_at = ${expiry}
    where account_id = ${accountId} and delegate_id = ${delegateId} and deleted_at is null
      and (${change.mayExtend} or coalesce(${expiry}, 'infinity') <= coalesce(expires_at, 'infinity'))
    returning ${columns}`);
};

/** Deletes the account's delegate for everybody to see; false when there is none. Its history stays. */
export const markDelegateDeleted = async (
  db: Db,
  accountId: string,
  delegateId: string,
): Promise<DelegateRow | null> =>
  db.maybeOne(sql.type(Row)`
    update delegates set deleted_at = app_now()
    where account_id = ${accountId} and delegate_id = ${delegateId} and deleted_at is null
    returning ${columns}`);
