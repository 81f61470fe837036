import type { Records } from '../../../shared/boot.ts';
import { revokeAllKeys } from '../keys/revoke-all-keys.ts';
import type { Peers } from '../peers.ts';
import { CLOSING_DAYS, claimClosingServices, endServiceRow, updateEndCheckAt } from './store.ts';

const BATCH = 20;
const DAY_MS = 24 * 3600_000;

/** What ends a service once nothing of it is open. */
export type ServiceEnder = Pick<Records, 'pool' | 'clock' | 'relay'> &
  Pick<Peers, 'getActivity'> & { sendMailsNow: () => void };

/** Ends a closing service and revokes its keys. Of concurrent callers, one ends it. */
export const endService = async (deps: ServiceEnder, serviceId: string): Promise<void> => {
  const outbox = await deps.pool.transaction(async (tx) => {
    const ended = await endServiceRow(tx, serviceId);
    return ended === null ? [] : revokeAllKeys(tx, deps, { kind: 'service', id: serviceId }, ended);
  });
  deps.relay.dispatch(outbox);
  deps.sendMailsNow();
};

/**
 * Ends closing services when nothing is open and their last window closed 30 days ago
 * (docs/spec/decisions.md, Services).
 */
export const endServices = (deps: ServiceEnder) => async (): Promise<void> => {
  for (const { service_id: serviceId, now } of await claimClosingServices(deps.pool, BATCH)) {
    const { open, endsAt } = await deps.getActivity(serviceId);
    // The claim lasts an hour. The service is checked again after it.
    if (open) continue;
    const mayEndAt = (endsAt ?? 0) + CLOSING_DAYS * DAY_MS;
    if (mayEndAt > now) await updateEndCheckAt(deps.pool, serviceId, mayEndAt);
    else await endService(deps, serviceId);
  }
};
