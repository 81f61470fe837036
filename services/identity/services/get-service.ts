import { notFound } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { showService } from '../sessions/view.ts';
import { findOwnService } from './store.ts';

/** GET /v1/services/:service_id. */
export const getService =
  (deps: Deps): Handler<typeof identity.operations.getService> =>
  async ({ service_id }, caller) => {
    const row = await findOwnService(deps.pool, caller.account_id, service_id);
    if (row === null) throw notFound('service');
    return showService(row);
  };
