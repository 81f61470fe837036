import { z } from 'zod';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { type Page, pageBy } from '../../../shared/lists/page.ts';

const Row = z.object({
  delegate_id: z.string(),
  account_id: z.string(),
  name: z.string(),
  wallet_id: z.string(),
  /** Null: a person made it, not a device. */
  session_id: z.string().nullable(),
  expires_at: z.number().nullable(),
  expired: z.boolean(),
  created_at: z.number(),
  /** Null: it is not deleted. */
  deleted_at: z.number().nullable(),
});
export type DelegateRow = z.infer<typeof Row>;

const columns = sql.fragment`delegate_id, account_id, name, wallet_id, session_id, expires_at,
  coalesce(expires_at <= app_now(), false) as expired, created_at, deleted_at`;
const toTimestamp = (epochMs: number | null) =>
  epochMs === null ? sql.fragment`null::timestamptz` : sql.fragment`to_timestamp(${epochMs}::float8 / 1000)`;

/** Writes a new delegate. Times are epoch milliseconds. */
export const insertDelegate = (
  db: Db,
  row: Omit<DelegateRow, 'expired' | 'deleted_at'>,
): Promise<DelegateRow> =>
  db.one(sql.type(Row)`
    insert into delegates (delegate_id, account_id, name, wallet_id, session_id, expires_at, created_at)
    values (${row.delegate_id}, ${row.account_id}, ${row.name}, ${row.wallet_id}, ${row.session_id},
      ${toTimestamp(row.expires_at)}, ${toTimestamp(row.created_at)})
    returning ${columns}`);

/**
 * The account's delegate. Null when there is none, when it is deleted, or when it belongs to
 * another account.
 */
export const findDelegateRow = (db: Db, accountId: string, delegateId: string): Promise<DelegateRow | null> =>
  db.maybeOne(sql.type(Row)`
    select ${columns} from delegates
    where account_id = ${accountId} and delegate_id = ${delegateId} and deleted_at is null`);

/** A page of the account's current or deleted delegates, newest first, and one more. */
export const listDelegateRows = (
  db: Db,
  { account_id, status }: { account_id: string; status: 'current' | 'revoked' },
  page: Page,
): Promise<readonly DelegateRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from delegates
    where account_id = ${account_id}
      and ${status === 'revoked' ? sql.fragment`deleted_at is not null` : sql.fragment`deleted_at is null`}
      ${pageBy('delegate_id', page)}`);

/**
 * Updates name and expiry. Null when there is no such delegate, or when `mayExtend` is false and
 * the delegate would live longer. The statement itself decides that, because another call may have
 * shortened the expiry since it was read.
 */
export const updateDelegateRow = (
  db: Db,
  accountId: string,
  delegateId: string,
  change: { name: string | undefined; expires_at: number | null | undefined; mayExtend: boolean },
): Promise<DelegateRow | null> => {
  const expiry = change.expires_at === undefined ? sql.fragment`expires_at` : toTimestamp(change.expires_at);
  return db.maybeOne(sql.type(Row)`
    update delegates set name = coalesce(${change.name ?? null}, name), expires_at = ${expiry}
    where account_id = ${accountId} and delegate_id = ${delegateId} and deleted_at is null
      and (${change.mayExtend} or coalesce(${expiry}, 'infinity') <= coalesce(expires_at, 'infinity'))
    returning ${columns}`);
};

/**
 * Marks the account's delegate as deleted. Null when there is none. The row stays for the history.
 */
export const deleteDelegateRow = (
  db: Db,
  accountId: string,
  delegateId: string,
): Promise<DelegateRow | null> =>
  db.maybeOne(sql.type(Row)`
    update delegates set deleted_at = app_now()
    where account_id = ${accountId} and delegate_id = ${delegateId} and deleted_at is null
    returning ${columns}`);

/** Marks the delegates that sign-ins of the account have made as deleted. */
export const deleteDelegatesOfSessions = (
  tx: Db,
  accountId: string,
  sessionIds: readonly string[],
): Promise<readonly DelegateRow[]> =>
  tx.any(sql.type(Row)`
    update delegates set deleted_at = app_now()
    where account_id = ${accountId} and session_id = any(${sql.array(sessionIds, 'text')})
      and deleted_at is null
    returning ${columns}`);

/** Marks all delegates of an account as deleted. */
export const deleteDelegatesOf = (tx: Db, accountId: string): Promise<unknown> =>
  tx.query(sql.typeAlias('void')`
    update delegates set deleted_at = app_now() where account_id = ${accountId} and deleted_at is null`);

/** Erases the names of an account's delegates. */
export const eraseDelegateNames = (tx: Db, accountId: string): Promise<unknown> =>
  tx.query(sql.typeAlias('void')`update delegates set name = 'erased' where account_id = ${accountId}`);
