import type { funding } from '../../../shared/contract/funding.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { openCursor, pageLimit, pageOf } from '../../../shared/db/cursor.ts';
import type { Deps } from '../deps.ts';
import { listWithdrawals as list, type WithdrawalRow } from '../store/withdrawals.ts';
import { showWithdrawal } from '../transfer-view.ts';

/** GET /v1/withdrawals. */
export const listWithdrawals =
  ({ pool, cursorKey: key }: Deps): Handler<typeof funding.operations.listWithdrawals> =>
  async ({ wallet_id, status, ...input }, { account_id }) => {
    const binding = ['withdrawals', account_id, wallet_id, status];
    const limit = pageLimit(input.limit);
    const before = openCursor(key, binding, input.cursor);
    const rows = await list(pool, account_id, { wallet_id, status }, { before, limit });
    return pageOf(rows, limit, {
      ...{ key, binding, show: showWithdrawal },
      idOf: (row: WithdrawalRow) => row.withdrawal_id,
    });
  };
