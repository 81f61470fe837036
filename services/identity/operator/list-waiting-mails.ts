import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { listQueuedKinds } from '../mails/store.ts';

/** Internal: how many mails of each kind wait, for an operator. Neither addresses nor texts. */
export const listWaitingMails =
  ({ pool }: { pool: Pool }): Handler<typeof identity.internal.listWaitingMails> =>
  async () =>
    (await listQueuedKinds(pool)).map(({ next_attempt_at, ...row }) => ({
      ...row,
      next_attempt_at: isoTime(next_attempt_at),
    }));
