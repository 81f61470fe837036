import type { funding } from '../../../shared/contract/funding.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Reads } from '../../../shared/db/reads.ts';
import { listHandler, ofAccount } from '../../../shared/lists/list.ts';
import * as deposits from './store/deposits.ts';
import { showDeposit } from './view.ts';

/** GET /v1/deposits. */
export const listDeposits = (deps: {
  reads: Reads;
  cursorKeys: readonly Buffer[];
}): Handler<typeof funding.operations.listDeposits> =>
  listHandler(deps, 'deposits', {
    scope: ofAccount,
    rows: deposits.listDeposits,
    place: (row) => row.deposit_id,
    show: (rows) => rows.map(showDeposit),
  });
