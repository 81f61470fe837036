import { LINK_MINUTES } from '../../../shared/contract/identity.sign-in.ts';
import type { Environment } from '../../../shared/contract/primitives.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Logger } from '../../../shared/lib/logger.ts';
import { everyMs, type Periodic } from '../../../shared/lib/periodic.ts';
import { loginToken, revealToken } from '../sessions/model/tokens.ts';
import { type Mail, type Mailer, MailRefused, signInMail } from './mailer.ts';
import { noticeMail } from './notices.ts';
import { claimMails, deleteMail, type MailRow, retryMail } from './store.ts';

const BATCH = 10;
const SWEEP_EVERY_MS = 1000;
/** Seconds until the next try: 2, 4, 8, … at most a minute, until the link in the mail has expired. */
const retryDelaySeconds = (attempts: number): number => Math.min(60, 2 ** attempts);

export type MailJob = Periodic & {
  /** Sends what is due now instead of at the next sweep. Never throws. */
  poke: () => void;
};

/**
 * Sends the mails table. A mail is claimed in one short statement and sent outside of any transaction, so a slow
 * mail server holds no lock. Log lines carry the mail's id and never its address or link.
 */
export const startSendMails = ({
  pool,
  logger,
  mailer,
  environment,
  identitySecret,
  signInUrl,
  revealUrl,
}: {
  pool: Pool;
  logger: Logger;
  mailer: Mailer;
  environment: Environment;
  identitySecret: Buffer;
  signInUrl: string;
  revealUrl: string;
}): MailJob => {
  const compose = ({ kind, to_address: to, link_id, details }: MailRow): Mail | null => {
    if (kind === 'sign_in' && link_id !== null) {
      const token = loginToken(identitySecret, environment, link_id);
      return signInMail({ to, environment, signInUrl, token, minutes: LINK_MINUTES });
    }
    const token = link_id === null ? null : revealToken(identitySecret, environment, link_id);
    // The page reads whose key it is from the query; the token is in the fragment, which no server sees.
    const page = `${revealUrl}?${new URLSearchParams({ [details.owner_kind ?? '']: details.owner_id ?? '' })}`;
    return noticeMail(kind, { to, environment, details }, token === null ? null : `${page}#token=${token}`);
  };

  const sendOne = async (row: MailRow): Promise<void> => {
    const mail = compose(row);
    if (mail === null) logger.error({ mail_id: String(row.mail_id), kind: row.kind }, 'unknown kind of mail');
    try {
      if (mail !== null) await mailer.send(mail);
    } catch (error) {
      const refused = error instanceof MailRefused;
      // The server's words may repeat the address, so only the kind of error is told.
      const { code } = error as { code?: string };
      const line = { mail_id: String(row.mail_id), attempts: row.attempts, code, refused };
      logger.warn(line, 'mail not sent');
      if (!refused) return void (await retryMail(pool, row.mail_id, retryDelaySeconds(row.attempts)));
    }
    await deleteMail(pool, row.mail_id);
  };

  const sendBatch = async (): Promise<number> => {
    const claimed = await claimMails(pool, BATCH);
    await Promise.all(claimed.map(sendOne));
    return claimed.length;
  };
  const drain = async (): Promise<void> => {
    while (!stopping && (await sendBatch()) === BATCH);
  };

  let stopping = false;
  const sweep = everyMs(SWEEP_EVERY_MS, 'sendMails', drain, logger);
  const poked = new Set<Promise<unknown>>();
  return {
    poke: () => {
      if (stopping) return;
      // One batch, and the sweep does the rest: were each poke to drain a backlog, they would claim all of it at once,
      // and the mail that was just asked for would stand behind it in the mail server's queue.
      const work = sendBatch()
        .catch((error: unknown) => logger.warn({ err: error }, 'mails left to the sweep'))
        .finally(() => poked.delete(work));
      poked.add(work);
    },
    stop: async () => {
      stopping = true;
      await Promise.all([sweep.stop(), ...poked]);
      mailer.close();
    },
  };
};
