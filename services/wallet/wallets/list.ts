import type { Handler } from '../../../shared/contract/service.ts';
import type { wallet } from '../../../shared/contract/wallet.ts';
import { listHandler, ofAccount } from '../../../shared/lists/list.ts';
import type { Deps } from '../deps.ts';
import { listWallets } from './store.ts';
import { seeWallets } from './view.ts';

/** GET /v1/wallets. */
export const list = (deps: Deps): Handler<typeof wallet.operations.list> =>
  listHandler(deps, 'wallets', {
    scope: ofAccount,
    rows: listWallets,
    place: (row) => row.wallet_id,
    show: (rows) => seeWallets(deps, rows),
  });
