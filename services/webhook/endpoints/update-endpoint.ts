import type { Handler } from '../../../shared/contract/service.ts';
import type { webhook } from '../../../shared/contract/webhook.ts';
import { requireFresh } from '../../../shared/lib/step-up.ts';
import { showEndpoint } from '../deliveries/view.ts';
import type { Deps } from '../deps.ts';
import { noEndpoint, ownEndpoint } from './endpoint-row.ts';
import { changeEndpoint } from './store.ts';

/** PATCH /v1/webhook-endpoints/:endpoint_id. Another URL is as good as another endpoint, so it needs what creating one needs. */
export const updateEndpoint =
  (
    deps: Pick<Deps, 'pool' | 'clock' | 'sender' | 'pokeDeliveries'>,
  ): Handler<typeof webhook.operations.updateEndpoint> =>
  async ({ endpoint_id, url, description, event_types, enabled }, caller) => {
    const { account_id } = caller;
    const before = await ownEndpoint(deps, account_id, endpoint_id);
    if (url !== undefined && url !== before.url) {
      requireFresh(caller, deps.clock());
      await deps.sender.check(url);
    }
    const change = { url, description, event_types, enabled };
    const row = await changeEndpoint(deps.pool, account_id, endpoint_id, change);
    if (row === null) throw noEndpoint();
    deps.pokeDeliveries();
    return showEndpoint(row);
  };
