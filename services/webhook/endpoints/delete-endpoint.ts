import type { Handler } from '../../../shared/contract/service.ts';
import type { webhook } from '../../../shared/contract/webhook.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { endpointNotFound } from './endpoint-row.ts';
import { deleteEndpointRow } from './store.ts';

/** DELETE /v1/webhook-endpoints/:endpoint_id. */
export const deleteEndpoint =
  ({ pool }: { pool: Pool }): Handler<typeof webhook.operations.deleteEndpoint> =>
  async ({ endpoint_id }, { account_id }) => {
    if (!(await deleteEndpointRow(pool, account_id, endpoint_id))) throw endpointNotFound();
    return null;
  };
