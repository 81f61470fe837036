import type { Handler } from '../../../shared/contract/service.ts';
import type { webhook } from '../../../shared/contract/webhook.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { getEnabledEndpointRow } from '../endpoints/endpoint-row.ts';
import { insertTestEvent } from './store.ts';
import { showEvent } from './view.ts';

/** POST /v1/webhook-endpoints/:endpoint_id/test. The log of deliveries shows the result. */
export const testEndpoint =
  (deps: { pool: Pool; sendDeliveriesNow: () => void }): Handler<typeof webhook.operations.testEndpoint> =>
  async ({ endpoint_id }, { account_id }) => {
    await getEnabledEndpointRow(deps, account_id, endpoint_id);
    const event = await insertTestEvent(deps.pool, account_id, endpoint_id);
    deps.sendDeliveriesNow();
    return showEvent(event);
  };
