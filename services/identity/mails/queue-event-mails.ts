import type { Pool } from '../../../shared/db/pool.ts';
import { type EventMail, insertEventMails } from './store.ts';

/** Queues the mails about events of other services, each once, and starts to send them. */
export const queueEventMails =
  ({ pool, sendMailsNow }: { pool: Pool; sendMailsNow: () => void }) =>
  async (mails: readonly EventMail[]): Promise<void> => {
    if ((await insertEventMails(pool, mails)) > 0) sendMailsNow();
  };
