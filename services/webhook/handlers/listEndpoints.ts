import type { Handler } from '../../../shared/contract/service.ts';
import type { webhook } from '../../../shared/contract/webhook.ts';
import { openCursor, pageLimit, pageOf } from '../../../shared/db/cursor.ts';
import type { Deps } from '../deps.ts';
import { type EndpointRow, selectEndpoints } from '../store/endpoints.ts';
import { showEndpoint } from '../view.ts';

/** GET /v1/webhook-endpoints. */
export const listEndpoints =
  ({
    pool,
    cursorKey: key,
  }: Pick<Deps, 'pool' | 'cursorKey'>): Handler<typeof webhook.operations.listEndpoints> =>
  async ({ cursor, limit: limitText }, { account_id }) => {
    const binding = ['webhook-endpoints', account_id];
    const limit = pageLimit(limitText);
    const before = openCursor(key, binding, cursor);
    const rows = await selectEndpoints(pool, account_id, { before, limit });
    const idOf = (row: EndpointRow) => row.endpoint_id;
    return pageOf(rows, limit, { key, binding, idOf, show: showEndpoint });
  };
