import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { listHandler, ofAccount } from '../../../shared/lists/list.ts';
import type { Deps } from '../deps.ts';
import { showService } from '../sessions/view.ts';
import { listOwnServices } from './store.ts';

/** GET /v1/services: the account's services, newest first. */
export const listServices = (deps: Deps): Handler<typeof identity.operations.listServices> =>
  listHandler(deps, 'services', {
    scope: ofAccount,
    rows: listOwnServices,
    place: ({ created_at, service_id }) => ({ created_at, service_id }),
    show: (rows) => rows.map(showService),
  });
