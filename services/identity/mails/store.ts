import { z } from 'zod';
import type { Client } from '../../../shared/contract/client.ts';
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

/** How long a notice is sent after the event that it is about. */
export const NOTICE_DAYS = 3;

/**
 * Queues a notice to the owner of an account, and records it as a security event if it is one, also
 * when the owner wants no such mails. Call it within the transaction that makes the change.
 * `details` are values for the text and never a secret.
 * @param notice.security_event_id of an event that another service has noted. A repeat is not
 *   mailed
 * @param notice.always for a notice that the settings cannot turn off, because an attacker would
 *   turn mails off first. A notice with a link was requested, so it is always sent.
 */
export const insertNotice = async (
  db: Db,
  {
    always = false,
    ...notice
  }: {
    account_id: string;
    kind: string;
    details: Record<string, string>;
    link_id?: string;
    always?: boolean;
    security_event_id?: string;
    client?: Client | null;
  },
): Promise<void> => {
  const { account_id, kind, details, security_event_id, client = clientOfCall() } = notice;
  if (isSecurityEvent(kind)) {
    const isNew = await insertSecurityEvent(db, { security_event_id, account_id, kind, details, client });
    if (!isNew || !isMailed(notice)) return;
  }
  await db.query(sql.typeAlias('void')`
    insert into mails (kind, to_address, link_id, details, expires_at)
    select ${kind}, email, ${notice.link_id ?? null}, ${JSON.stringify({ ...details, ...client })}::jsonb,
      app_now() + ${NOTICE_DAYS} * interval '1 day'
    from accounts where account_id = ${notice.account_id} and email is not null
      and (mail_key_events or ${always || isAlwaysMailed(notice) || notice.link_id !== undefined})`);
};

/**
 * Queues the mail about a payment that waits for approval, unless it was queued before. Nobody can
 * approve after `expires_at`, so the mail is not sent any more then. It has a link, so it is sent
 * before the mails that nobody waits for.
 * @returns whether it was queued now
 */
export const insertApprovalMail = async (
  db: Db,
  mail: {
    account_id: string;
    approval_id: string;
    delegate_id: string;
    expires_at: string;
    details: Record<string, string>;
  },
): Promise<boolean> => {
  const { rowCount } = await db.query(sql.typeAlias('void')`
    with mailed as (
      insert into mailed_approvals (approval_id, expires_at)
      values (${mail.approval_id}, app_now() + ${NOTICE_DAYS + 1} * interval '1 day')
      on conflict do nothing returning approval_id
    )
    insert into mails (kind, to_address, link_id, details, expires_at)
    select 'approval_requested', email, mailed.approval_id, ${JSON.stringify(mail.details)}::jsonb
        || jsonb_strip_nulls(jsonb_build_object('delegate', (select name from delegates
          where delegates.delegate_id = ${mail.delegate_id} and delegates.account_id = accounts.account_id))),
      ${mail.expires_at}::timestamptz
    from accounts, mailed where accounts.account_id = ${mail.account_id} and closed_at is null`);
  return rowCount === 1;
};

/**
 * Queues the mail about a declined payment of a delegate, unless the owner was mailed about one in
 * the last hour. An older decline is not mailed: its event is a repeat, or came too late.
 * @returns whether it was queued now
 */
export const insertDeclineMail = async (
  db: Db,
  mail: {
    account_id: string;
    delegate_id: string;
    service_id: string;
    created_at: string;
    details: Record<string, string>;
  },
): Promise<boolean> => {
  const anHourAgo = sql.fragment`app_now() - interval '1 hour'`;
  const { rowCount } = await db.query(sql.typeAlias('void')`
    with mailed as (
      insert into mailed_declines (account_id, mailed_at)
      select account_id, app_now() from accounts
      where account_id = ${mail.account_id} and closed_at is null
        and ${mail.created_at}::timestamptz > ${anHourAgo}
      on conflict (account_id) do update set mailed_at = excluded.mailed_at
      where mailed_declines.mailed_at <= ${anHourAgo}
      returning account_id
    )
    insert into mails (kind, to_address, details, expires_at)
    select 'payment_declined', email, ${JSON.stringify(mail.details)}::jsonb || jsonb_strip_nulls(jsonb_build_object(
        'delegate', (select name from delegates
          where delegates.delegate_id = ${mail.delegate_id} and delegates.account_id = accounts.account_id),
        'service', (select name from services where services.service_id = ${mail.service_id}::uuid))),
      app_now() + ${NOTICE_DAYS} * interval '1 day'
    from accounts join mailed using (account_id)`);
  return rowCount === 1;
};

/** Deletes the records of mails whose event can no longer be repeated. */
export const purgeMailedApprovals = (db: Db): Promise<unknown> =>
  db.query(sql.typeAlias('void')`delete from mailed_approvals where expires_at <= app_now()`);

/**
 * Queues the notices that a statement computes: `source` has the columns `kind`, `email` and
 * `details`.
 */
export const insertNoticesFrom = (source: ReturnType<typeof sql.fragment>) => sql.fragment`
  insert into mails (kind, to_address, details, expires_at)
  select kind, email, details, app_now() + ${NOTICE_DAYS} * interval '1 day' from ${source}`;

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
      (select token_hash from reveal_links where reveal_links.link_id = mails.link_id)) as token_hash`);

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

/**
 * The number of queued mails and the age of the oldest in seconds. Each scrape of the metrics reads
 * it. A mail is as old as its link.
 */
export const getMailBacklog = (db: Db): Promise<z.infer<typeof Backlog>> =>
  db.one(sql.type(Backlog)`
    with queued as (select to_address, link_id from mails where expires_at > app_now()
      ${inOrder} limit ${COUNT_UP_TO})
    select count(*) as mails,
      coalesce(extract(epoch from app_now() - min(login_links.created_at)), 0)::float8 as oldest_age
    from queued left join login_links on login_links.email = to_address and login_links.link_id = queued.link_id`);

/** Deletes the record of when an account was mailed about a decline. */
export const deleteMailedDeclinesOf = (tx: Db, accountId: string): Promise<unknown> =>
  tx.query(sql.typeAlias('void')`delete from mailed_declines where account_id = ${accountId}`);
