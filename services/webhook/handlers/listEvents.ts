import type { Handler } from '../../../shared/contract/service.ts';
import type { webhook } from '../../../shared/contract/webhook.ts';
import { openCursor, pageLimit, pageOf } from '../../../shared/db/cursor.ts';
import type { Deps } from '../deps.ts';
import { type EventRow, selectEvents } from '../store/events.ts';
import { showEvent } from '../view.ts';

/** GET /v1/events. */
export const listEvents =
  ({
    pool,
    cursorKey: key,
  }: Pick<Deps, 'pool' | 'cursorKey'>): Handler<typeof webhook.operations.listEvents> =>
  async ({ type, object_id, cursor, limit: limitText }, { account_id }) => {
    const binding = ['events', account_id, type ?? null, object_id ?? null];
    const limit = pageLimit(limitText);
    const before = openCursor(key, binding, cursor);
    const rows = await selectEvents(pool, account_id, { type, object_id }, { before, limit });
    const idOf = (row: EventRow) => row.event_id;
    return pageOf(rows, limit, { key, binding, idOf, show: showEvent });
  };
