import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Reads } from '../../../shared/db/reads.ts';
import type { FeeRule } from '../../../shared/lib/money/fee.ts';
import { listHandler, ofAccount } from '../../../shared/lists/list.ts';
import { listServiceRows } from './store.ts';
import { showService } from './view.ts';

/** GET /v1/services: the account's services, newest first. */
export const listServices = (deps: {
  reads: Reads;
  cursorKeys: readonly Buffer[];
  fee: FeeRule;
}): Handler<typeof identity.operations.listServices> =>
  listHandler(deps, 'services', {
    scope: ofAccount,
    rows: listServiceRows,
    place: ({ created_at, service_id }) => ({ created_at, service_id }),
    show: (rows) => rows.map((row) => showService(row, deps.fee)),
  });
