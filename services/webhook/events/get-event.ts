import { notFound } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { webhook } from '../../../shared/contract/webhook.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { findEvent } from './store.ts';
import { showEvent } from './view.ts';

/** GET /v1/events/:event_id. */
export const getEvent =
  ({ pool }: { pool: Pool }): Handler<typeof webhook.operations.getEvent> =>
  async ({ event_id }, { account_id }) => {
    const row = await findEvent(pool, account_id, event_id);
    if (row === null) throw notFound('event');
    return showEvent(row);
  };
