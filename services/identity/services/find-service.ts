import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { showService } from '../sessions/view.ts';
import { findAnyService } from './store.ts';

/** Internal: what a quote needs of a service. */
export const findService =
  (deps: Deps): Handler<typeof identity.internal.findService> =>
  async ({ service_id }) => {
    const row = await findAnyService(deps.pool, service_id);
    return row === null ? null : { ...showService(row), account_id: row.account_id };
  };
