import { z } from 'zod';
import { type Pool, sql } from '../../../shared/db/pool.ts';
import { type AccountRecords, entry } from '../../../shared/operator/records.ts';

const Mail = z.object({
  kind: z.string(),
  attempts: z.number(),
  next_attempt_at: z.number(),
  mail_id: z.bigint(),
});
const Noted = z.object({ security_event_id: z.string(), kind: z.string(), created_at: z.number() });

/** Only the kinds: links and texts of mails stay in the table. */
const listWaitingMails = (pool: Pool, accountId: string, limit: number) =>
  pool.any(sql.type(Mail)`
    select mail_id, kind, attempts, next_attempt_at from mails
    where to_address = (select email from accounts where account_id = ${accountId})
    order by mail_id desc limit ${limit}`);

/**
 * The mails to an account that are not sent yet, and its security events, whose mails were sent.
 * Other mails leave no record when they are sent.
 */
export const listMailRecords =
  (pool: Pool): AccountRecords =>
  async ({ account_id, since, limit }) => {
    const [mails, noted] = await Promise.all([
      listWaitingMails(pool, account_id, limit),
      pool.any(sql.type(Noted)`
        select security_event_id, kind, created_at from security_events
        where account_id = ${account_id} and created_at >= ${since ?? '-infinity'}::timestamptz
        order by security_event_id desc limit ${limit}`),
    ]);
    return [
      ...mails.flatMap(({ mail_id, kind, attempts, next_attempt_at }) =>
        entry(next_attempt_at, `mail ${mail_id}`, 'mail waits', { kind, attempts }),
      ),
      ...noted.flatMap(({ security_event_id, kind, created_at }) =>
        entry(created_at, security_event_id, 'security event', { kind }),
      ),
    ];
  };
