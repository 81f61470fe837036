import type { Handler } from '../../../shared/contract/service.ts';
import type { webhook } from '../../../shared/contract/webhook.ts';
import { showEvent } from '../deliveries/view.ts';
import type { Deps } from '../deps.ts';
import { insertTestEvent } from '../events/store.ts';
import { enabledEndpoint } from './endpoint-row.ts';

/** POST /v1/webhook-endpoints/:endpoint_id/test. What comes of it is in the log of deliveries. */
export const testEndpoint =
  (deps: Pick<Deps, 'pool' | 'pokeDeliveries'>): Handler<typeof webhook.operations.testEndpoint> =>
  async ({ endpoint_id }, { account_id }) => {
    await enabledEndpoint(deps, account_id, endpoint_id);
    const event = await insertTestEvent(deps.pool, account_id, endpoint_id);
    deps.pokeDeliveries();
    return showEvent(event);
  };
