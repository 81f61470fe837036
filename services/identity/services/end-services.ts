import type { Deps } from '../deps.ts';
import { endAllKeys } from '../keys/replace-key.ts';
import { CLOSING_DAYS, claimClosing, endService, putEndCheck } from './store.ts';

const BATCH = 20;
const DAY_MS = 24 * 3600_000;

/** Ends a closing service and its keys. One caller wins. */
export const endNow = async (deps: Deps, serviceId: string): Promise<void> => {
  const told = await deps.pool.transaction(async (tx) => {
    const ended = await endService(tx, serviceId);
    return ended === null ? [] : endAllKeys(tx, deps, { kind: 'service', id: serviceId }, ended);
  });
  deps.relay.dispatch(told);
  deps.pokeMails();
};

/**
 * Ends closing services once nothing is open and their last window is 30 days past
 * (docs/spec/decisions.md, Services).
 */
export const endServices = (deps: Deps) => async (): Promise<void> => {
  for (const { service_id: serviceId, now } of await claimClosing(deps.pool, BATCH)) {
    const { open, endsAt } = await deps.activityOf(serviceId);
    const over = (endsAt ?? 0) + CLOSING_DAYS * DAY_MS;
    if (open) continue; // Claimed for an hour: then it is asked again.
    if (over > now) await putEndCheck(deps.pool, serviceId, over);
    else await endNow(deps, serviceId);
  }
};
