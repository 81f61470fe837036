import { ServiceError } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { wallet } from '../../../shared/contract/wallet.ts';
import type { Deps } from '../deps.ts';
import { ownWallet } from './view.ts';

/** GET /v1/wallets/:wallet_id/backup. */
export const backup =
  (deps: Deps): Handler<typeof wallet.operations.backup> =>
  async ({ wallet_id }, caller) => {
    const row = await ownWallet(deps, caller.account_id, wallet_id);
    if (row.backup === null) throw new ServiceError('not_found', 'the wallet has no backup');
    return { wallet_id, backup: row.backup };
  };
