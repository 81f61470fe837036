import type { Handler } from '../../../shared/contract/service.ts';
import type { webhook } from '../../../shared/contract/webhook.ts';
import { showEndpoint } from '../deliveries/view.ts';
import type { Deps } from '../deps.ts';
import { ownEndpoint } from './endpoint-row.ts';

/** GET /v1/webhook-endpoints/:endpoint_id. */
export const getEndpoint =
  (deps: Pick<Deps, 'pool'>): Handler<typeof webhook.operations.getEndpoint> =>
  async ({ endpoint_id }, { account_id }) =>
    showEndpoint(await ownEndpoint(deps, account_id, endpoint_id));
