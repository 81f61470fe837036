import type { Handler } from '../../../shared/contract/service.ts';
import type { webhook } from '../../../shared/contract/webhook.ts';
import type { Reads } from '../../../shared/db/reads.ts';
import { listHandler, ofAccount } from '../../../shared/lists/list.ts';
import { listEventRows } from './store.ts';
import { showEvent } from './view.ts';

/** GET /v1/events. */
export const listEvents = (deps: {
  reads: Reads;
  cursorKeys: readonly Buffer[];
}): Handler<typeof webhook.operations.listEvents> =>
  listHandler(deps, 'events', {
    scope: ofAccount,
    rows: listEventRows,
    place: (row) => row.event_id,
    show: (rows) => rows.map(showEvent),
  });
