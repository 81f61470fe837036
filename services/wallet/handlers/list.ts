import type { Handler } from '../../../shared/contract/service.ts';
import type { wallet } from '../../../shared/contract/wallet.ts';
import { openCursor, pageLimit, pageOf } from '../../../shared/db/cursor.ts';
import type { Deps } from '../deps.ts';
import { listWallets, type WalletRow } from '../store/wallets.ts';
import { seeWallets } from '../view.ts';

/** GET /v1/wallets. */
export const list =
  (deps: Deps): Handler<typeof wallet.operations.list> =>
  async (input, caller) => {
    const binding = ['wallets', caller.account_id];
    const limit = pageLimit(input.limit);
    const before = openCursor(deps.cursorKey, binding, input.cursor);
    const rows = await listWallets(deps.pool, caller.account_id, { before, limit });
    const { data, next_cursor } = pageOf(rows, limit, {
      key: deps.cursorKey,
      binding,
      idOf: (row: WalletRow) => row.wallet_id,
      show: (row: WalletRow) => row,
    });
    return { data: await seeWallets(deps, data), next_cursor };
  };
