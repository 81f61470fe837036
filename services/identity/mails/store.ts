import { z } from 'zod';
import { type Db, sql } from '../../../shared/db/pool.ts';

const Row = z.object({
  mail_id: z.bigint(),
  to_address: z.string(),
  kind: z.string(),
  /** Of the link in the mail; null where it has none. */
  link_id: z.string().nullable(),
  details: z.record(z.string(), z.string()),
  attempts: z.number(),
});
export type MailRow = z.infer<typeof Row>;

/**
 * How long a claimed mail is left to the one who claimed it; longer than the SMTP time-outs of mail.ts together.
 * After a crash the mail is sent again, which shows the same link twice and harms nobody.
 */
const CLAIM_SECONDS = 90;

/**
 * Puts the mail of a sign-in link in the queue, in place of one for an earlier link that could not be sent yet.
 * Call within the transaction that put the link.
 */
export const insertSignInMail = async (
  db: Db,
  mail: { to_address: string; link_id: string },
): Promise<void> => {
  await db.query(sql.typeAlias('void')`
    delete from mails where kind = 'sign_in' and to_address = ${mail.to_address}`);
  await db.query(sql.typeAlias('void')`
    insert into mails (kind, to_address, link_id, expires_at)
    select 'sign_in', ${mail.to_address}, link_id, expires_at from login_links where link_id = ${mail.link_id}`);
};

/** How long a mail about an event is worth sending. */
export const NOTICE_DAYS = 3;

/**
 * Puts a mail to the owner of an account in the queue: something happened to their keys. Call within the transaction
 * that made it happen. `details` are words for the text, never a secret.
 * @param notice.always for what the settings cannot turn off: whoever attacks would turn the mails off first. A mail
 *   with a link is asked for, so it always goes out.
 */
export const insertNotice = (
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
  },
): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    insert into mails (kind, to_address, link_id, details, expires_at)
    select ${notice.kind}, email, ${notice.link_id ?? null}, ${JSON.stringify(notice.details)}::jsonb,
      app_now() + ${NOTICE_DAYS} * interval '1 day'
    from accounts where account_id = ${notice.account_id}
      and (mail_key_events or ${always || notice.link_id !== undefined})`);

/**
 * Mails with a link, which somebody waits for, before all others: any number of payments may be mailed, and must not
 * hold up a sign-in.
 */
const inOrder = sql.fragment`order by (link_id is null), next_attempt_at`;

/** Claims due mails for the caller to send; any number of replicas may do so at once. */
export const claimMails = (db: Db, limit: number): Promise<readonly MailRow[]> =>
  db.any(sql.type(Row)`
    update mails set attempts = attempts + 1,
      next_attempt_at = app_now() + ${CLAIM_SECONDS} * interval '1 second'
    where mail_id in (
      select mail_id from mails where next_attempt_at <= app_now() and expires_at > app_now()
      ${inOrder} limit ${limit} for update skip locked)
    returning mail_id, to_address, kind, link_id, details, attempts`);

/** Gives a claimed mail back, to be tried again after the delay. */
export const retryMail = (db: Db, mailId: bigint, delaySeconds: number): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update mails set next_attempt_at = app_now() + ${delaySeconds} * interval '1 second'
    where mail_id = ${mailId}`);

/** Removes a mail that is sent or will never be. */
export const deleteMail = (db: Db, mailId: bigint): Promise<unknown> =>
  db.query(sql.typeAlias('void')`delete from mails where mail_id = ${mailId}`);

/** Removes what could not be sent before its link expired. */
export const purgeMails = (db: Db): Promise<unknown> =>
  db.query(sql.typeAlias('void')`delete from mails where expires_at <= app_now()`);

const COUNT_UP_TO = 10_000;
const Backlog = z.object({ mails: z.bigint(), oldest_age: z.number() });

/**
 * Mails that wait, and for how long the oldest does (seconds): read at each scrape of the metrics. A mail is as old
 * as the link in it.
 */
export const mailBacklog = (db: Db): Promise<z.infer<typeof Backlog>> =>
  db.one(sql.type(Backlog)`
    with waiting as (select to_address, link_id from mails where expires_at > app_now()
      ${inOrder} limit ${COUNT_UP_TO})
    select count(*) as mails,
      coalesce(extract(epoch from app_now() - min(login_links.created_at)), 0)::float8 as oldest_age
    from waiting left join login_links on login_links.email = to_address and login_links.link_id = waiting.link_id`);
