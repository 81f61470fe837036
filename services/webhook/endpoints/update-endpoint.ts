import type { Handler } from '../../../shared/contract/service.ts';
import type { webhook } from '../../../shared/contract/webhook.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { insertSecurityNote } from '../../../shared/events/security-note.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { requireFresh } from '../../../shared/lib/tokens/step-up.ts';
import type { Sender } from '../sender/sender.ts';
import { endpointNotFound, getEndpointRow } from './endpoint-row.ts';
import { updateEndpointRow } from './store.ts';
import { showEndpoint } from './view.ts';

/**
 * PATCH /v1/webhook-endpoints/:endpoint_id. A new URL is equivalent to a new endpoint, so it needs
 * the same fresh sign-in and the same check.
 */
export const updateEndpoint =
  (deps: {
    pool: Pool;
    clock: Clock;
    sender: Pick<Sender, 'check'>;
    sendDeliveriesNow: () => void;
  }): Handler<typeof webhook.operations.updateEndpoint> =>
  async ({ endpoint_id, url, description, event_types, enabled }, caller) => {
    const { account_id } = caller;
    const before = await getEndpointRow(deps, account_id, endpoint_id);
    const isMoved = url !== undefined && url !== before.url;
    if (isMoved) {
      requireFresh(caller, deps.clock());
      await deps.sender.check(url);
    }
    const change = { url, description, event_types, enabled };
    const row = await deps.pool.transaction(async (tx) => {
      const changed = await updateEndpointRow(tx, account_id, endpoint_id, change);
      if (changed !== null && isMoved) {
        const details = { endpoint_id, host: new URL(url).host };
        await insertSecurityNote(tx, 'webhook', { account_id, kind: 'endpoint_changed', details });
      }
      return changed;
    });
    if (row === null) throw endpointNotFound();
    deps.sendDeliveriesNow();
    return showEndpoint(row);
  };
