import { z } from 'zod';
import type { Client } from '../../../shared/contract/client.ts';
import { EVENT_DAYS } from '../../../shared/contract/sent-events.ts';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { clientOfCall } from '../../../shared/lib/call-client.ts';
import { isAlwaysMailed, isMailed, isSecurityEvent } from '../security/model.ts';
import { insertSecurityEvent } from '../security/store.ts';

const Row = z.object({
  mail_id: z.bigint(),
  to_address: z.string(),
  kind: z.string(),
  /** The link in the mail. Null when it has none. */
  link_id: z.string().nullable(),
  /** Of the token of the link. Null when the mail has none, or when it is no longer valid. */
  token_hash: z.string().nullable(),
  details: z.record(z.string(), z.string()),
  attempts: z.number(),
  /** Seconds since the sign-in link was requested. Null: another mail. */
  link_age: z.number().nullable(),
});
export type MailRow = z.infer<typeof Row>;

/**
 * How long a claimed mail is left to its claimer. It is longer than the sum of the SMTP time-outs
 * of `mailer.ts`. After a crash the mail is sent again with the same link, which does no harm.
 */
const CLAIM_SECONDS = 90;

/**
 * Queues the mail of a sign-in link, in place of unsent mails whose links are no longer valid. Call
 * it within the transaction that writes the link.
 */
export const insertSignInMail = async (
  db: Db,
  mail: { to_address: string; link_id: string },
): Promise<void> => {
  await db.query(sql.typeAlias('void')`
    delete from mails where kind = 'sign_in' and to_address = ${mail.to_address}
      and link_id not in (select link_id from login_links where email = ${mail.to_address} and used_at is null)`);
  await db.query(sql.typeAlias('void')`
    insert into mails (kind, to_address, link_id, expires_at)
    select 'sign_in', ${mail.to_address}, link_id, expires_at from login_links where link_id = ${mail.link_id}`);
};

/** How long a notice is sent after the event that it is about has arrived. */
const NOTICE_DAYS = 3;
/** A day longer than an event can come, so that no repeated event counts as a new one. */
export const KEEP_DAYS = EVENT_DAYS + 1;

/**
 * Queues a notice to the owner of an account, and records it as a security event if it is one, also
 * when the owner wants no such mails. Call it within the transaction that makes the change.
 * `details` are values for the text and never a secret.
 * @param notice.security_event_id of an event that another service has noted. A repeat is not
 *   mailed
 * @param notice.link_id of a notice that was requested, so the settings do not turn it off
 */
export const insertNotice = async (
  db: Db,
  notice: {
    account_id: string;
    kind: string;
    details: Record<string, string>;
    link_id?: string;
    security_event_id?: string;
    client?: Client | null;
  },
): Promise<void> => {
  const { account_id, kind, details, link_id, security_event_id, client = clientOfCall() } = notice;
  if (isSecurityEvent(kind)) {
    const isNew = await insertSecurityEvent(db, { security_event_id, account_id, kind, details, client });
    if (!isNew || !isMailed(notice)) return;
  }
  const mail = { account_id, kind, details: { ...details, ...client } };
  const isAlone = isAlwaysMailed(notice) || link_id !== undefined;
  if (!isAlone && client !== null && (await isFollowing(db, account_id, client)))
    return insertChange(db, mail, groupOf(account_id, client));
  await db.query(sql.typeAlias('void')`
    insert into mails (kind, to_address, link_id, details, expires_at)
    select ${kind}, email, ${link_id ?? null}, ${JSON.stringify(mail.details)}::jsonb,
      app_now() + ${NOTICE_DAYS} * interval '1 day'
    from accounts where account_id = ${account_id} and email is not null
      and (mail_key_events or ${isAlone})`);
};

/**
 * A person who sets up an account makes many changes within minutes. The first one is mailed at
 * once, as a thief's would be. Those that follow from the same place within this time are one mail
 * at its end. What cannot be turned off is never held back.
 */
const GROUP_SECONDS = 300;
const groupOf = (accountId: string, { address, agent }: Client): string =>
  `changes:${accountId}:${address}:${agent}`;

/** Whether a change follows another one of the same place. Otherwise the time begins with it. */
const isFollowing = async (db: Db, accountId: string, client: Client): Promise<boolean> => {
  const { rowCount } = await db.query(
    sql.typeAlias('void')`${insertHandledFrom(sql.fragment`(select ${groupOf(accountId, client)} as event_key,
      app_now() + ${GROUP_SECONDS} * interval '1 second' as expires_at) as change`)}`,
  );
  return rowCount === 0;
};

/**
 * A change in the mail that reports several. The time of the group, whose row this transaction has
 * locked, is when that mail is due.
 */
const insertChange = async (
  db: Db,
  { account_id, kind, details }: { account_id: string; kind: string; details: Record<string, string> },
  group: string,
): Promise<void> => {
  const change = sql.fragment`jsonb_build_object('kind', ${kind}::text, 'at', app_now(),
    'details', ${JSON.stringify(details)}::jsonb)`;
  const { rowCount } = await db.query(sql.typeAlias('void')`
    update mails set details = jsonb_set(mails.details, '{changes}',
      to_jsonb(((mails.details ->> 'changes')::jsonb || ${change})::text))
    from accounts where account_id = ${account_id} and to_address = email and mail_key_events
      and kind = 'changes' and mails.details ->> 'group' = ${group} and attempts = 0`);
  if (rowCount > 0) return;
  await db.query(sql.typeAlias('void')`
    insert into mails (kind, to_address, details, next_attempt_at, expires_at)
    select 'changes', email,
      jsonb_build_object('group', ${group}::text, 'changes', jsonb_build_array(${change})::text),
      handled_events.expires_at, app_now() + ${NOTICE_DAYS} * interval '1 day'
    from accounts, handled_events
    where account_id = ${account_id} and email is not null and mail_key_events and event_key = ${group}`);
};

/** Makes a mail that collects changes due: nothing of a closed account is kept back. */
export const releaseChanges = async (db: Db, email: string): Promise<void> => {
  await db.query(sql.typeAlias('void')`
    update mails set next_attempt_at = app_now() where kind = 'changes' and to_address = ${email}`);
};

const Changes = z.array(
  z.object({ kind: z.string(), at: z.string(), details: z.record(z.string(), z.string()) }),
);
/** The changes of a mail that reports several, the earliest first. */
export const readChanges = ({ changes = '[]' }: Record<string, string>): z.infer<typeof Changes> =>
  Changes.parse(JSON.parse(changes));

type Fragment = ReturnType<typeof sql.fragment>;

/**
 * Records what is done once, so that a repeated event does nothing: `source` has the columns
 * `event_key` and `expires_at`. Returns the keys that are new, or that had expired.
 */
export const insertHandledFrom = (source: Fragment) => sql.fragment`
  insert into handled_events as earlier (event_key, expires_at) select event_key, expires_at from ${source}
  on conflict (event_key) do update set expires_at = excluded.expires_at where earlier.expires_at <= app_now()
  returning event_key`;

/**
 * Queues the mails that a statement computes for accounts that are open: `source` has the columns
 * `kind`, `account_id`, `link_id`, `details` and `expires_at`. Null as `expires_at`: a notice.
 */
export const insertMailsFrom = (source: Fragment) => sql.fragment`
  insert into mails (kind, to_address, link_id, details, expires_at)
  select kind, email, link_id, details, coalesce(mail.expires_at, app_now() + ${NOTICE_DAYS} * interval '1 day')
  from ${source} as mail join accounts using (account_id) where closed_at is null`;

/** The name of a delegate of an account, or null. */
export const delegateName = (delegateId: Fragment, accountId: Fragment) => sql.fragment`
  (select name from delegates where delegates.delegate_id = ${delegateId} and delegates.account_id = ${accountId})`;
/** The name of a service, or null. */
export const serviceName = (serviceId: Fragment) => sql.fragment`
  (select name from services where services.service_id = ${serviceId})`;

/** What an event of another service mails. */
export type EventMail = {
  /** One mail is sent for it, */
  event_key: string;
  /** within this time. An older event is not mailed. */
  once_in?: '1 hour';
  /** When the event happened. */
  at: string;
  kind: string;
  account_id: string;
  /** The mail gets the names of the delegate and the service whose ids are among them. */
  details: Record<string, string>;
  /** A mail with a link is sent before those that nobody waits for. */
  link_id?: string;
  /** When the mail is of no use any more. */
  expires_at?: string;
};

/**
 * Queues the mails about events of other services, each once.
 * @returns how many were queued now
 */
export const insertEventMails = async (db: Db, mails: readonly EventMail[]): Promise<number> => {
  const rows = mails.map((mail) => ({ once_in: `${EVENT_DAYS} days`, ...mail }));
  const { rowCount } = await db.query(sql.typeAlias('void')`
    with received as (
      select distinct on (event_key) * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as input(event_key text,
        once_in interval, at timestamptz, kind text, account_id text, details jsonb, link_id text, expires_at timestamptz)
      where at > app_now() - once_in
      order by event_key, at
    ), handled as (
      ${insertHandledFrom(sql.fragment`(select event_key, app_now() + once_in as expires_at from received) as event`)}
    ), mail as (
      select kind, account_id, link_id, expires_at, jsonb_strip_nulls(jsonb_build_object(
        'delegate', ${delegateName(sql.fragment`details ->> 'delegate_id'`, sql.fragment`received.account_id`)},
        'service', ${serviceName(sql.fragment`(details ->> 'service_id')::uuid`)})) || details as details
      from received join handled using (event_key)
    )
    ${insertMailsFrom(sql.fragment`mail`)}`);
  return rowCount;
};

/** Deletes what no repeated event can need any more. */
export const purgeHandledEvents = (db: Db): Promise<unknown> =>
  db.query(sql.typeAlias('void')`delete from handled_events where expires_at <= app_now()`);

/**
 * Mails with a link come before all others, because a user waits for them. Any number of mails
 * about payments may be queued and must not delay a sign-in.
 */
const inOrder = sql.fragment`order by (link_id is null), next_attempt_at`;

/** Claims due mails for the caller to send. Any number of replicas may claim at the same time. */
export const claimMails = (db: Db, limit: number): Promise<readonly MailRow[]> =>
  db.any(sql.type(Row)`
    update mails set attempts = attempts + 1,
      next_attempt_at = app_now() + ${CLAIM_SECONDS} * interval '1 second'
    where mail_id in (
      select mail_id from mails where next_attempt_at <= app_now() and expires_at > app_now()
      ${inOrder} limit ${limit} for update skip locked)
    returning mail_id, to_address, kind, link_id, details, attempts, coalesce(
      (select token_hash from login_links where login_links.link_id = mails.link_id),
      (select token_hash from reveal_links where reveal_links.link_id = mails.link_id)) as token_hash,
      (select extract(epoch from app_now() - created_at)::float8 from login_links
        where login_links.link_id = mails.link_id) as link_age`);

/** Releases a claimed mail, which is sent again after the delay. */
export const retryMail = (db: Db, mailId: bigint, delaySeconds: number): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update mails set next_attempt_at = app_now() + ${delaySeconds} * interval '1 second'
    where mail_id = ${mailId}`);

/** Deletes a mail that was sent, or that the mail server refused for good. */
export const deleteMail = (db: Db, mailId: bigint): Promise<unknown> =>
  db.query(sql.typeAlias('void')`delete from mails where mail_id = ${mailId}`);

/** Deletes mails that could not be sent before they expired. */
export const purgeMails = (db: Db): Promise<unknown> =>
  db.query(sql.typeAlias('void')`delete from mails where expires_at <= app_now()`);

const COUNT_UP_TO = 10_000;
const Backlog = z.object({ mails: z.bigint(), oldest_age: z.number() });

/** Mails that wait to be sent. Changes are collected for a while before they are due. */
const queuedMails = (fields: ReturnType<typeof sql.fragment>) => sql.fragment`
  select ${fields} from mails where expires_at > app_now()
    and (kind <> 'changes' or next_attempt_at <= app_now() or attempts > 0) ${inOrder} limit ${COUNT_UP_TO}`;

/**
 * The number of queued mails and the age of the oldest in seconds. Each scrape of the metrics reads
 * it. A mail is as old as its link.
 */
export const getMailBacklog = (db: Db): Promise<z.infer<typeof Backlog>> =>
  db.one(sql.type(Backlog)`
    with queued as (${queuedMails(sql.fragment`to_address, link_id`)})
    select count(*) as mails,
      coalesce(extract(epoch from app_now() - min(login_links.created_at)), 0)::float8 as oldest_age
    from queued left join login_links on login_links.email = to_address and login_links.link_id = queued.link_id`);

const QueuedKind = z.object({
  kind: z.string(),
  mails: z.bigint().transform(Number),
  attempts: z.number(),
  next_attempt_at: z.number(),
});

/** The same mails by their kind, those that were tried most often first. */
export const listQueuedKinds = (db: Db): Promise<readonly z.infer<typeof QueuedKind>[]> =>
  db.any(sql.type(QueuedKind)`
    with queued as (${queuedMails(sql.fragment`kind, attempts, next_attempt_at`)})
    select kind, count(*) as mails, max(attempts) as attempts, min(next_attempt_at) as next_attempt_at
    from queued group by kind order by attempts desc, mails desc`);
