import type { Pool } from '../../../shared/db/pool.ts';
import { everyMs, type Periodic } from '../../../shared/lib/periodic.ts';
import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import { record, secondsSince } from '../../../shared/lib/telemetry/metrics.ts';
import { claimMails, deleteMail, type MailRow, retryMail } from '../mails/store.ts';
import { composeMail, type LinkSettings } from './compose.ts';
import { type Mailer, MailRefused } from './mailer.ts';

const BATCH = 10;
/** Seconds until the next attempt: 2, 4, 8, … up to a minute, until the mail expires. */
const retryDelaySeconds = (attempts: number): number => Math.min(60, 2 ** attempts);

/** A mail whose kind this version does not know is left to one that does, until it expires. */
const OF_ANOTHER_VERSION_SECONDS = 60;

type MailSending = Periodic & {
  /** Sends one batch of due mails now instead of at the next sweep. Never throws. */
  sendNow: () => void;
};

type Deps = { pool: Pool; logger: Logger; mailer: Mailer } & LinkSettings;

/** Sends a claimed mail. Log lines carry the mail's id, never its address or link. */
const sendMail = async (deps: Deps, row: MailRow): Promise<void> => {
  const { pool, logger, mailer } = deps;
  const mail = composeMail(deps, row);
  const mail_id = String(row.mail_id);
  if (mail === null) {
    logger.warn({ mail_id, kind: row.kind }, 'left a mail of an unknown kind to another version');
    return void (await retryMail(pool, row.mail_id, OF_ANOTHER_VERSION_SECONDS));
  }
  const startedAt = performance.now();
  try {
    await mailer.send(mail);
    if (row.link_age !== null)
      record('quittance_sign_in_mail_seconds', row.link_age + secondsSince(startedAt));
  } catch (error) {
    const refused = error instanceof MailRefused;
    // The server's reply may contain the address, so only the code of the error is logged.
    const { code } = error as { code?: string };
    const fields = { mail_id, attempts: row.attempts, code, refused };
    logger.warn(fields, 'did not send a mail because the mail server failed or refused it');
    if (!refused) return void (await retryMail(pool, row.mail_id, retryDelaySeconds(row.attempts)));
  }
  await deleteMail(pool, row.mail_id);
};

/**
 * Sends the rows of `mails`. One short statement claims a mail, and it is sent outside of any
 * transaction, so that a slow mail server holds no lock.
 */
export const startSendMails = (deps: Deps, sweepEveryMs: number): MailSending => {
  const { pool, logger, mailer } = deps;
  let stopping = false;
  const sendBatch = async (): Promise<number> => {
    const claimed = await claimMails(pool, BATCH);
    await Promise.all(claimed.map((row) => sendMail(deps, row)));
    return claimed.length;
  };
  const sendAll = async (): Promise<boolean> => {
    let sent = await sendBatch();
    const found = sent > 0;
    while (!stopping && sent === BATCH) sent = await sendBatch();
    return found;
  };

  const sweep = everyMs(sweepEveryMs, 'sendMails', sendAll, logger);
  const sending = new Set<Promise<unknown>>();
  return {
    sendNow: () => {
      if (stopping) return;
      // One call sends one batch and leaves the rest to the sweep. If every call sent the whole
      // backlog, they would claim all of it at once, and a mail that a user has just requested
      // would wait behind it in the mail server's queue.
      const work = sendBatch()
        .catch((error: unknown) => logger.warn({ err: error }, 'left mails to the next sweep after an error'))
        .finally(() => sending.delete(work));
      sending.add(work);
    },
    stop: async () => {
      stopping = true;
      await Promise.all([sweep.stop(), ...sending]);
      mailer.close();
    },
  };
};
