import { ServiceError } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { MAX_REDELIVERED, type webhook } from '../../../shared/contract/webhook.ts';
import type { Deps } from '../deps.ts';
import { enabledEndpoint } from '../endpoints.ts';
import { redeliverEvents } from '../store/deliveries.ts';
import { findEvent } from '../store/events.ts';

const whichOf = (event_id: string | undefined, since: string | undefined) => {
  if (event_id !== undefined && since === undefined) return { event_id };
  // The shape alone lets 30 February pass, and a year 0 that Postgres does not know.
  if (since !== undefined && event_id === undefined && Date.parse(since) >= 0) {
    return { since: new Date(since).toISOString() };
  }
  const message = 'name an event_id, or a time that exists as since';
  throw new ServiceError('validation_error', message, { details: [{ path: 'event_id', message }] });
};

/** POST /v1/webhook-endpoints/:endpoint_id/redeliver. */
export const redeliver =
  (deps: Pick<Deps, 'pool' | 'pokeDeliveries'>): Handler<typeof webhook.operations.redeliver> =>
  async ({ endpoint_id, event_id, since }, { account_id }) => {
    const endpoint = await enabledEndpoint(deps, account_id, endpoint_id);
    const which = whichOf(event_id, since);
    if (event_id !== undefined && (await findEvent(deps.pool, account_id, event_id)) === null) {
      throw new ServiceError('not_found', 'no such event');
    }
    const redelivering = await redeliverEvents(deps.pool, endpoint, which, MAX_REDELIVERED);
    deps.pokeDeliveries();
    return { redelivering };
  };
