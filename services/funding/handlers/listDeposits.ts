import type { funding } from '../../../shared/contract/funding.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { openCursor, pageLimit, pageOf } from '../../../shared/db/cursor.ts';
import { showDeposit } from '../deposit-view.ts';
import type { Deps } from '../deps.ts';
import { type DepositRow, selectDeposits } from '../store/deposits.ts';

/** GET /v1/deposits. */
export const listDeposits =
  ({
    pool,
    cursorKey: key,
  }: Pick<Deps, 'pool' | 'cursorKey'>): Handler<typeof funding.operations.listDeposits> =>
  async ({ cursor, limit: limitText, status, wallet_id }, { account_id }) => {
    const binding = ['deposits', account_id, status ?? null, wallet_id ?? null];
    const limit = pageLimit(limitText);
    const before = openCursor(key, binding, cursor);
    const rows = await selectDeposits(pool, account_id, { status, wallet_id }, { before, limit });
    const idOf = (row: DepositRow) => row.deposit_id;
    return pageOf(rows, limit, { key, binding, idOf, show: showDeposit });
  };
