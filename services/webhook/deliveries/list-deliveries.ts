import type { Handler } from '../../../shared/contract/service.ts';
import type { webhook } from '../../../shared/contract/webhook.ts';
import { listHandler } from '../../../shared/lists/list.ts';
import type { Deps } from '../deps.ts';
import { ownEndpoint } from '../endpoints/endpoint-row.ts';
import * as deliveries from './store.ts';
import { showDelivery } from './view.ts';

/** GET /v1/webhook-endpoints/:endpoint_id/deliveries. */
export const listDeliveries = (
  deps: Pick<Deps, 'pool' | 'cursorKey'>,
): Handler<typeof webhook.operations.listDeliveries> =>
  listHandler(deps, 'deliveries', {
    scope: async (filters, { account_id }) => {
      await ownEndpoint(deps, account_id, filters.endpoint_id);
      return filters;
    },
    rows: deliveries.listDeliveries,
    place: (row) => row.event_id,
    show: (rows) => rows.map(showDelivery),
  });
