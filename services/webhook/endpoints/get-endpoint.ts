import type { Handler } from '../../../shared/contract/service.ts';
import type { webhook } from '../../../shared/contract/webhook.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { getEndpointRow } from './endpoint-row.ts';
import { showEndpoint } from './view.ts';

/** GET /v1/webhook-endpoints/:endpoint_id. */
export const getEndpoint =
  (deps: { pool: Pool }): Handler<typeof webhook.operations.getEndpoint> =>
  async ({ endpoint_id }, { account_id }) =>
    showEndpoint(await getEndpointRow(deps, account_id, endpoint_id));
