import type { Handler } from '../../../shared/contract/service.ts';
import type { webhook } from '../../../shared/contract/webhook.ts';
import type { Deps } from '../deps.ts';
import { noEndpoint } from './endpoint-row.ts';
import { deleteEndpointRow } from './store.ts';

/** DELETE /v1/webhook-endpoints/:endpoint_id. */
export const deleteEndpoint =
  ({ pool }: Pick<Deps, 'pool'>): Handler<typeof webhook.operations.deleteEndpoint> =>
  async ({ endpoint_id }, { account_id }) => {
    if (!(await deleteEndpointRow(pool, account_id, endpoint_id))) throw noEndpoint();
    return null;
  };
