import type { Handler } from '../../../shared/contract/service.ts';
import type { webhook } from '../../../shared/contract/webhook.ts';
import { openCursor, pageLimit, pageOf } from '../../../shared/db/cursor.ts';
import type { Deps } from '../deps.ts';
import { ownEndpoint } from '../endpoints.ts';
import { type DeliveryRow, selectDeliveries } from '../store/deliveries.ts';
import { showDelivery } from '../view.ts';

/** GET /v1/webhook-endpoints/:endpoint_id/deliveries. */
export const listDeliveries =
  (deps: Pick<Deps, 'pool' | 'cursorKey'>): Handler<typeof webhook.operations.listDeliveries> =>
  async ({ endpoint_id, status, cursor, limit: limitText }, { account_id }) => {
    await ownEndpoint(deps, account_id, endpoint_id);
    const key = deps.cursorKey;
    const binding = ['deliveries', endpoint_id, status ?? null];
    const limit = pageLimit(limitText);
    const before = openCursor(key, binding, cursor);
    const rows = await selectDeliveries(deps.pool, endpoint_id, status, { before, limit });
    const idOf = (row: DeliveryRow) => row.event_id;
    return pageOf(rows, limit, { key, binding, idOf, show: showDelivery });
  };
