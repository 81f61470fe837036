import type { Handler } from '../../../shared/contract/service.ts';
import type { wallet } from '../../../shared/contract/wallet.ts';
import type { Reads } from '../../../shared/db/reads.ts';
import { listHandler, ofAccount } from '../../../shared/lists/list.ts';
import { observedViews } from './observed-view.ts';
import type { RefreshDeps } from './snapshots/refresh-snapshots.ts';
import { listWallets } from './store.ts';

/** GET /v1/wallets. */
export const list = (
  deps: RefreshDeps & { reads: Reads; cursorKeys: readonly Buffer[] },
): Handler<typeof wallet.operations.list> =>
  listHandler(deps, 'wallets', {
    scope: ofAccount,
    rows: listWallets,
    place: (row) => row.wallet_id,
    show: (rows) => observedViews(deps, rows),
  });
