import { notFound } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { webhook } from '../../../shared/contract/webhook.ts';
import { showEvent } from '../deliveries/view.ts';
import type { Deps } from '../deps.ts';
import { findEvent } from './store.ts';

/** GET /v1/events/:event_id. */
export const getEvent =
  ({ pool }: Pick<Deps, 'pool'>): Handler<typeof webhook.operations.getEvent> =>
  async ({ event_id }, { account_id }) => {
    const row = await findEvent(pool, account_id, event_id);
    if (row === null) throw notFound('event');
    return showEvent(row);
  };
