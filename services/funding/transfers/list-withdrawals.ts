import type { funding } from '../../../shared/contract/funding.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Reads } from '../../../shared/db/reads.ts';
import { listHandler, ofAccount } from '../../../shared/lists/list.ts';
import * as withdrawals from './store/withdrawals.ts';
import { showWithdrawal } from './view.ts';

/** GET /v1/withdrawals. */
export const listWithdrawals = (deps: {
  reads: Reads;
  cursorKeys: readonly Buffer[];
}): Handler<typeof funding.operations.listWithdrawals> =>
  listHandler(deps, 'withdrawals', {
    scope: ofAccount,
    rows: withdrawals.listWithdrawals,
    place: (row) => row.withdrawal_id,
    show: (rows) => rows.map(showWithdrawal),
  });
