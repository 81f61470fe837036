import { z } from 'zod';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { type Db, sql } from '../../../shared/db/pool.ts';

const Row = z.object({
  account_id: z.string(),
  email: z.string(),
  display_name: z.string().nullable(),
  mail_key_events: z.boolean(),
  mail_payments: z.boolean(),
  spending_alert_threshold: z.bigint().nullable(),
  created_at: z.number(),
});
export type AccountRow = z.infer<typeof Row>;

const columns = sql.fragment`account_id, email, display_name, mail_key_events, mail_payments,
  spending_alert_threshold, created_at`;

const open = (row: AccountRow | null): AccountRow => {
  if (row === null) throw new ServiceError('unauthorized', 'the account is closed');
  return row;
};

/** Returns the account of this address, and creates it with the given id when there is none. */
export const upsertAccount = async (db: Db, email: string, newAccountId: string): Promise<string> => {
  // The update changes nothing. Without it the statement would not return a row that exists.
  const { id } = await db.one(sql.typeAlias('id')`
    insert into accounts (account_id, email) values (${newAccountId}, ${email})
    on conflict (email) where closed_at is null do update set email = excluded.email
    returning account_id as id`);
  return id;
};

/**
 * The account of a caller that is signed in.
 * @throws ServiceError unauthorized if it was closed since the caller was checked
 */
export const getAccountRow = async (db: Db, accountId: string): Promise<AccountRow> =>
  open(
    await db.maybeOne(sql.type(Row)`
      select ${columns} from accounts where account_id = ${accountId} and closed_at is null`),
  );

/** The same row, locked until the transaction ends. */
export const lockAccount = async (tx: Db, accountId: string): Promise<AccountRow> =>
  open(
    await tx.maybeOne(sql.type(Row)`
      select ${columns} from accounts where account_id = ${accountId} and closed_at is null for update`),
  );

/** Writes the settings of an account that the caller has locked. */
export const updateAccountSettings = (
  tx: Db,
  row: Omit<AccountRow, 'email' | 'created_at'>,
): Promise<AccountRow> =>
  tx.one(sql.type(Row)`
    update accounts set display_name = ${row.display_name}, mail_key_events = ${row.mail_key_events},
      mail_payments = ${row.mail_payments}, spending_alert_threshold = ${row.spending_alert_threshold}
    where account_id = ${row.account_id}
    returning ${columns}`);

// ---------- closure and erasure ----------

/** A closure that takes longer is abandoned. */
const CLOSING_SECONDS = 15;

/** Freezes an account for the time of its closure. */
export const beginClosing = (db: Db, accountId: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update accounts set closing_until = app_now() + ${CLOSING_SECONDS} * interval '1 second'
    where account_id = ${accountId} and closed_at is null`);

/** Ends the freezing of a closure that was refused. */
export const abandonClosing = (db: Db, accountId: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update accounts set closing_until = null where account_id = ${accountId} and closed_at is null`);

const Closed = z.object({ closed_at: z.number(), erase_at: z.number() });

/**
 * Closes an account that the caller has locked and frozen. Null when it is no longer frozen by its
 * closure, so that something may have begun.
 */
export const closeAccountRow = (
  tx: Db,
  accountId: string,
  erasureDays: number,
): Promise<z.infer<typeof Closed> | null> =>
  tx.maybeOne(sql.type(Closed)`
    update accounts set closed_at = app_now(), closing_until = null,
      erase_at = app_now() + ${erasureDays} * interval '1 day'
    where account_id = ${accountId} and closed_at is null and closing_until > app_now()
    returning closed_at, erase_at`);

const Erased = z.object({ account_id: z.string(), erased_at: z.number() });

/**
 * Erases the personal data of one account whose time has come. Null when there is none. Other
 * replicas skip an account that is being erased.
 */
export const eraseNextAccount = (tx: Db): Promise<z.infer<typeof Erased> | null> =>
  tx.maybeOne(sql.type(Erased)`
    update accounts set email = null, display_name = null, erased_at = app_now()
    where account_id = (
      select account_id from accounts
      where closed_at is not null and erased_at is null and erase_at <= app_now()
      order by erase_at limit 1 for update skip locked)
    returning account_id, erased_at`);

// ---------- account status, which operators set ----------

const Status = z.object({
  account_id: z.string(),
  email: z.string().nullable(),
  created_at: z.number(),
  frozen_at: z.number().nullable(),
  limit_factor: z.number(),
  closed_at: z.number().nullable(),
  erased_at: z.number().nullable(),
});
export type AccountStatusRow = z.infer<typeof Status>;

const statusColumns = sql.fragment`account_id, email, created_at, frozen_at, limit_factor, closed_at, erased_at`;

/** Whether an account that a statement names is frozen, by an operator or while it is closing. */
export const isFrozen = sql.fragment`(accounts.frozen_at is not null or coalesce(accounts.closing_until > app_now(), false))`;

/** The status of an account, or null when there is no such account. */
export const findAccountStatus = (db: Db, accountId: string): Promise<AccountStatusRow | null> =>
  db.maybeOne(sql.type(Status)`select ${statusColumns} from accounts where account_id = ${accountId}`);

const FoundRow = Status.extend({
  matched: z.enum(['account', 'service', 'delegate', 'key']),
  id: z.string(),
  state: z.string(),
});
type FoundAccountRow = z.infer<typeof FoundRow>;

/**
 * The accounts that an id, an e-mail address in its stored form, or the hash of a key names.
 * @param serviceId the same text if it is a UUID, otherwise null
 */
export const findAccountStatuses = (
  db: Db,
  { text, serviceId }: { text: string; serviceId: string | null },
): Promise<readonly FoundAccountRow[]> =>
  db.any(sql.type(FoundRow)`
    with found as (
      select account_id, 'account' as matched, account_id as id,
        case when erased_at is not null then 'erased' when closed_at is not null then 'closed' else 'open' end as state
      from (
        select * from accounts where account_id = ${text}
        -- Each part has an index. A closed account keeps its address until it is erased.
        union all select * from accounts where email = ${text} and closed_at is null
        union all select * from accounts where email = ${text} and closed_at is not null and erased_at is null
      ) as named
      union all
      select account_id, 'service', service_id::text, status from services where service_id = ${serviceId}::uuid
      union all
      select account_id, 'delegate', delegate_id,
        case when deleted_at is not null then 'deleted' when expires_at <= app_now() then 'expired' else 'active' end
      from delegates where delegate_id = ${text}
      union all
      select account_id, 'key', key_id,
        case when revoked_at is null then 'active' when revoked_at > app_now() then 'in its grace period'
          else 'revoked' end || ', of ' || coalesce(service_id::text, delegate_id)
      from keys where key_id = ${text} or key_hash = ${text}
    )
    select ${statusColumns}, matched, id, state from found join accounts using (account_id)`);

/** The same row, locked until the transaction ends. */
export const lockAccountStatus = (tx: Db, accountId: string): Promise<AccountStatusRow | null> =>
  tx.maybeOne(sql.type(Status)`
    select ${statusColumns} from accounts where account_id = ${accountId} for update`);

/** Whether an account is frozen. False when there is no such account. */
export const isAccountFrozen = (db: Db, accountId: string): Promise<boolean> =>
  db.oneFirst(sql.type(z.object({ frozen: z.boolean() }))`
    select exists (
      select from accounts where account_id = ${accountId} and ${isFrozen}) as frozen`);

/** Accounts that are frozen or have raised limits, the oldest account first. */
export const listChangedAccountStatuses = (db: Db, limit: number): Promise<readonly AccountStatusRow[]> =>
  db.any(sql.type(Status)`
    select ${statusColumns} from accounts where frozen_at is not null or limit_factor > 1
    order by account_id limit ${limit}`);

/** Freezes or unfreezes an account that the caller has locked. */
export const updateFrozenAt = (tx: Db, accountId: string, frozen: boolean): Promise<AccountStatusRow> =>
  tx.one(sql.type(Status)`
    update accounts set frozen_at = ${frozen ? sql.fragment`app_now()` : sql.fragment`null`}
    where account_id = ${accountId} returning ${statusColumns}`);

/** Sets the factor of the request limits of an account that the caller has locked. */
export const updateLimitFactor = (tx: Db, accountId: string, factor: number): Promise<AccountStatusRow> =>
  tx.one(sql.type(Status)`
    update accounts set limit_factor = ${factor}::int where account_id = ${accountId}
    returning ${statusColumns}`);
