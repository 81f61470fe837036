import type { Handler } from '../../../shared/contract/service.ts';
import type { webhook } from '../../../shared/contract/webhook.ts';
import type { Reads } from '../../../shared/db/reads.ts';
import { listHandler, ofAccount } from '../../../shared/lists/list.ts';
import { listEndpointRows } from './store.ts';
import { showEndpoint } from './view.ts';

/** GET /v1/webhook-endpoints. */
export const listEndpoints = (deps: {
  reads: Reads;
  cursorKeys: readonly Buffer[];
}): Handler<typeof webhook.operations.listEndpoints> =>
  listHandler(deps, 'webhook-endpoints', {
    scope: ofAccount,
    rows: listEndpointRows,
    place: (row) => row.endpoint_id,
    show: (rows) => rows.map(showEndpoint),
  });
