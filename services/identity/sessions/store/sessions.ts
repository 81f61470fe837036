import { z } from 'zod';
import { DEVICE_GRANT } from '../../../../shared/contract/identity/device-delegates.ts';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { event } from '../../../../shared/events/event.ts';
import { insertOutbox, type OutboxRow } from '../../../../shared/events/outbox.ts';
import { type Page, pageBy } from '../../../../shared/lists/page.ts';
import { isFrozen } from '../../accounts/store.ts';
import { SESSION_DAYS, SESSION_IDLE_DAYS } from '../model/session.ts';

const Row = z.object({
  session_id: z.string(),
  account_id: z.string(),
  email: z.string(),
  amr: z.array(z.string()),
  signed_in_at: z.number(),
  generation: z.number(),
});
export type SessionRow = z.infer<typeof Row>;

const State = z.object({
  ...Row.shape,
  rotated_at: z.number(),
  idle_expires_at: z.number(),
  expires_at: z.number(),
  revoked_at: z.number().nullable(),
  /** The database's clock when the row was read. */
  now: z.number(),
});

const columns = sql.fragment`session_id, account_id, email, amr, signed_in_at, generation`;
const idleEnd = sql.fragment`app_now() + ${SESSION_IDLE_DAYS} * interval '1 day'`;
const isOpen = sql.fragment`revoked_at is null and expires_at > app_now() and idle_expires_at > app_now()`;

/** Opens a session of an account that exists. `client_name` is the name of a device. */
export const insertSession = (
  db: Db,
  session: { session_id: string; account_id: string; amr: readonly string[]; client_name?: string },
): Promise<SessionRow> =>
  db.one(sql.type(Row)`
    with opened as (
      insert into sessions (session_id, account_id, amr, client_name, idle_expires_at, expires_at)
      values (${session.session_id}, ${session.account_id}, ${sql.array(session.amr, 'text')},
        ${session.client_name ?? null}, ${idleEnd}, app_now() + ${SESSION_DAYS} * interval '1 day')
      returning *)
    select ${columns} from opened join accounts using (account_id)`);

/**
 * Rotates an open session from this generation to the next. Null when the session is not open or
 * has another generation. Of concurrent callers, one rotates it.
 */
export const rotateSession = (db: Db, sessionId: string, generation: number): Promise<SessionRow | null> =>
  db.maybeOne(sql.type(Row)`
    with rotated as (
      update sessions set generation = generation + 1, rotated_at = app_now(),
        idle_expires_at = ${idleEnd}
      where session_id = ${sessionId} and generation = ${generation} and ${isOpen}
      returning *)
    select ${columns} from rotated join accounts using (account_id) where closed_at is null`);

/** A session with the times that decide about a refresh, or null. */
export const findSessionState = (db: Db, sessionId: string): Promise<z.infer<typeof State> | null> =>
  db.maybeOne(sql.type(State)`
    select ${columns}, rotated_at, idle_expires_at, expires_at, revoked_at, app_now() as now
    from sessions join accounts using (account_id) where session_id = ${sessionId} and closed_at is null`);

const OpenSession = z.object({
  session_id: z.string(),
  account_id: z.string(),
  frozen: z.boolean(),
  limit_factor: z.number(),
});

/** Those of the sessions that are open, with the status of their accounts, in no order. */
export const listSessionStatuses = (
  db: Db,
  sessions: readonly { session_id: string }[],
): Promise<readonly z.infer<typeof OpenSession>[]> =>
  db.any(sql.type(OpenSession)`
    select session_id, account_id, ${isFrozen} as frozen, limit_factor
    from sessions join accounts using (account_id)
    where session_id = any(${sql.array(
      sessions.map(({ session_id }) => session_id),
      'text',
    )}) and closed_at is null and ${isOpen}`);

/**
 * Revokes sessions of the account and ignores those of other accounts. Call it within a
 * transaction and pass the returned events to `relay.dispatch` after the commit: they make every
 * gateway delete the sessions from its cache.
 */
export const revokeSessions = async (
  tx: Db,
  accountId: string,
  sessionIds: readonly string[] | 'all',
): Promise<readonly OutboxRow[]> => {
  const which =
    sessionIds === 'all'
      ? sql.fragment`expires_at > app_now()`
      : sql.fragment`session_id = any(${sql.array(sessionIds, 'text')})`;
  const revoked = await tx.any(sql.typeAlias('id')`
    update sessions set revoked_at = app_now()
    where account_id = ${accountId} and ${which} and revoked_at is null
    returning session_id as id`);
  return insertOutbox(
    tx,
    revoked.map(({ id }) => event('identity.sessionRevoked', { account_id: accountId, session_id: id })),
  );
};

/**
 * Adds to what the delegates of a device may spend in a day. False if the session is not open, or
 * if it would be more than all of them may. The row stays locked, so that no end of the session
 * misses the delegate that the transaction inserts.
 */
export const grantToDevice = async (
  tx: Db,
  { account_id, session_id }: { account_id: string; session_id: string },
  amountMicro: bigint,
): Promise<boolean> =>
  (await tx.maybeOneFirst(sql.typeAlias('id')`
    update sessions set granted_micro = granted_micro + ${amountMicro}
    where session_id = ${session_id} and account_id = ${account_id} and ${isOpen}
      and granted_micro + ${amountMicro} <= ${DEVICE_GRANT}
    returning session_id as id`)) !== null;

const Listed = z.object({
  session_id: z.string(),
  amr: z.array(z.string()),
  client_name: z.string().nullable(),
  signed_in_at: z.number(),
  rotated_at: z.number(),
  expires_at: z.number(),
  open: z.boolean(),
  delegates: z.array(z.object({ delegate_id: z.string(), name: z.string() })),
});
export type ListedSession = z.infer<typeof Listed>;

/** The delegates that a session has made and that work. Null: there is none. */
const workingDelegates = sql.fragment`(
  select jsonb_agg(jsonb_build_object('delegate_id', delegate_id, 'name', name) order by delegate_id)
  from delegates
  where delegates.session_id = sessions.session_id and delegates.deleted_at is null
    and (delegates.expires_at is null or delegates.expires_at > app_now()))`;

/**
 * A page of the account's sessions, newest first, and one more: those that are open, and ended ones
 * whose delegates work. `expires_at` is the time at which the session expires without another
 * refresh, or has ended.
 */
export const listSessionRows = (
  db: Db,
  { account_id }: { account_id: string },
  page: Page,
): Promise<readonly ListedSession[]> =>
  db.any(sql.type(Listed)`
    select session_id, amr, client_name, signed_in_at, rotated_at,
      least(revoked_at, expires_at, idle_expires_at) as expires_at, ${isOpen} as open,
      coalesce(made.delegates, '[]') as delegates
    from sessions cross join lateral (select ${workingDelegates} as delegates) as made
    where account_id = ${account_id} and (${isOpen} or made.delegates is not null)
      ${pageBy('session_id', page)}`);

/** Whether the account has or had this session. */
export const hasSession = (db: Db, accountId: string, sessionId: string): Promise<boolean> =>
  db.oneFirst(sql.type(z.object({ has: z.boolean() }))`
    select exists (select from sessions where session_id = ${sessionId} and account_id = ${accountId}) as has`);

/**
 * Deletes old sessions. They stay for 90 days, because a theft is investigated later, and while
 * their owner can end the delegates that they made.
 */
export const purgeSessions = (db: Db): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    delete from sessions where expires_at < app_now() - interval '90 days' and ${workingDelegates} is null`);

/** Deletes all sessions of an account. */
export const deleteSessionsOf = (tx: Db, accountId: string): Promise<unknown> =>
  tx.query(sql.typeAlias('void')`delete from sessions where account_id = ${accountId}`);
