import type { Handler } from '../../../shared/contract/service.ts';
import type { webhook } from '../../../shared/contract/webhook.ts';
import { listHandler, ofAccount } from '../../../shared/lists/list.ts';
import { showEvent } from '../deliveries/view.ts';
import type { Deps } from '../deps.ts';
import * as events from './store.ts';

/** GET /v1/events. */
export const listEvents = (
  deps: Pick<Deps, 'pool' | 'cursorKey'>,
): Handler<typeof webhook.operations.listEvents> =>
  listHandler(deps, 'events', {
    scope: ofAccount,
    rows: events.listEvents,
    place: (row) => row.event_id,
    show: (rows) => rows.map(showEvent),
  });
