import { invalid, notFound } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { parseUtcTime } from '../../../shared/contract/utc-time.ts';
import { MAX_REDELIVERED, type webhook } from '../../../shared/contract/webhook.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { redeliverEvents } from '../deliveries/store.ts';
import { getEnabledEndpointRow } from '../endpoints/endpoint-row.ts';
import { findEvent } from './store.ts';

/** POST /v1/webhook-endpoints/:endpoint_id/redeliver. */
export const redeliver =
  (deps: { pool: Pool; sendDeliveriesNow: () => void }): Handler<typeof webhook.operations.redeliver> =>
  async ({ endpoint_id, event_id, since }, { account_id }) => {
    if (event_id === undefined && since === undefined) {
      throw invalid('event_id', 'name an event_id, or a time as since');
    }
    const endpoint = await getEnabledEndpointRow(deps, account_id, endpoint_id);
    if (event_id !== undefined && (await findEvent(deps.pool, account_id, event_id)) === null) {
      throw notFound('event');
    }
    const sinceTime = since === undefined ? undefined : isoTime(parseUtcTime(since));
    const wanted = { event_id, since: sinceTime };
    const redelivering = await redeliverEvents(deps.pool, endpoint, wanted, MAX_REDELIVERED);
    deps.sendDeliveriesNow();
    return { redelivering };
  };
