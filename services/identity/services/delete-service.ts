import { setTimeout as sleep } from 'node:timers/promises';
import { conflict, notFound } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { endNow } from './end-services.ts';
import { findOwnService, markServiceClosing, reopenService } from './store.ts';

/** Longer than the quote service keeps what it knows of a service: after it no new quote can come into being. */
const NO_NEW_QUOTES_MS = 1200;

/**
 * DELETE /v1/services/:service_id. Without a mode it ends at once when nothing is open: no new quotes first, then the
 * question, so that no quote slips in between and is paid to a vendor who cannot redeem.
 */
export const deleteService =
  (deps: Deps): Handler<typeof identity.operations.deleteService> =>
  async ({ service_id, mode }, caller) => {
    const { account_id } = caller;
    const service = await findOwnService(deps.pool, account_id, service_id);
    if (service === null) throw notFound('service');
    const refuseIfOpen = async (): Promise<void> => {
      if (!(await deps.activityOf(service_id)).open) return;
      if (service.status === 'active') await reopenService(deps.pool, account_id, service_id);
      throw conflict(
        'quotes or settlements are open; wait for them, or close the service: { "mode": "close" }',
      );
    };
    if (mode === undefined) await refuseIfOpen();
    if (!(await markServiceClosing(deps.pool, account_id, service_id))) {
      throw notFound('service');
    }
    if (mode === 'close') return null;
    if (service.status === 'active') await sleep(NO_NEW_QUOTES_MS);
    await refuseIfOpen();
    await endNow(deps, service_id);
    return null;
  };
