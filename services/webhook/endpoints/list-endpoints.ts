import type { Handler } from '../../../shared/contract/service.ts';
import type { webhook } from '../../../shared/contract/webhook.ts';
import { listHandler, ofAccount } from '../../../shared/lists/list.ts';
import { showEndpoint } from '../deliveries/view.ts';
import type { Deps } from '../deps.ts';
import * as endpoints from './store.ts';

/** GET /v1/webhook-endpoints. */
export const listEndpoints = (
  deps: Pick<Deps, 'pool' | 'cursorKey'>,
): Handler<typeof webhook.operations.listEndpoints> =>
  listHandler(deps, 'webhook-endpoints', {
    scope: ofAccount,
    rows: endpoints.listEndpoints,
    place: (row) => row.endpoint_id,
    show: (rows) => rows.map(showEndpoint),
  });
