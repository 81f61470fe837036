import type { Handler } from '../../../shared/contract/service.ts';
import type { webhook } from '../../../shared/contract/webhook.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Reads } from '../../../shared/db/reads.ts';
import { listHandler } from '../../../shared/lists/list.ts';
import { getEndpointRow } from '../endpoints/endpoint-row.ts';
import { listDeliveryRows } from './store.ts';
import { showDelivery } from './view.ts';

/** GET /v1/webhook-endpoints/:endpoint_id/deliveries. */
export const listDeliveries = (deps: {
  pool: Pool;
  reads: Reads;
  cursorKeys: readonly Buffer[];
}): Handler<typeof webhook.operations.listDeliveries> =>
  listHandler(deps, 'deliveries', {
    scope: async (filters, { account_id }) => {
      await getEndpointRow(deps, account_id, filters.endpoint_id);
      return filters;
    },
    rows: listDeliveryRows,
    place: (row) => row.event_id,
    show: (rows) => rows.map(showDelivery),
  });
