import { setTimeout as sleep } from 'node:timers/promises';
import { conflict, notFound } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { endService, type ServiceEnder } from './end-services.ts';
import { beginClosingService, findServiceRow, reopenService } from './store.ts';

/** Longer than the quote service caches a service. After this time no new quote can be created. */
const NO_NEW_QUOTES_MS = 1200;

/**
 * DELETE /v1/services/:service_id. Without a mode the service ends at once when nothing is open. It
 * stops new quotes first and checks afterwards. Otherwise a quote could be created in between and
 * paid to a vendor who cannot redeem it.
 */
export const deleteService =
  (deps: ServiceEnder): Handler<typeof identity.operations.deleteService> =>
  async ({ service_id, mode }, caller) => {
    const { account_id } = caller;
    const service = await findServiceRow(deps.pool, account_id, service_id);
    if (service === null) throw notFound('service');
    const refuseIfOpen = async (): Promise<void> => {
      if (!(await deps.getActivity(service_id)).open) return;
      if (service.status === 'active') await reopenService(deps.pool, account_id, service_id);
      throw conflict(
        'quotes or settlements are open; wait for them, or close the service: { "mode": "close" }',
      );
    };
    if (mode === undefined) await refuseIfOpen();
    if (!(await beginClosingService(deps.pool, account_id, service_id))) {
      throw notFound('service');
    }
    if (mode === 'close') return null;
    if (service.status === 'active') await sleep(NO_NEW_QUOTES_MS);
    await refuseIfOpen();
    await endService(deps, service_id);
    return null;
  };
