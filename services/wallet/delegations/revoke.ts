import type { Handler } from '../../../shared/contract/service.ts';
import type { wallet } from '../../../shared/contract/wallet.ts';
import type { Deps } from '../deps.ts';
import { ownWallet } from '../wallets/view.ts';
import { prepare, submitSigned } from './prepared.ts';

/** POST /v1/wallets/:wallet_id/revoke: prepares, or submits what was signed. */
export const revoke =
  (deps: Deps): Handler<typeof wallet.operations.revoke> =>
  async ({ wallet_id, transaction }, caller) => {
    const row = await ownWallet(deps, caller.account_id, wallet_id);
    return transaction === undefined
      ? prepare(deps, row, null)
      : submitSigned(deps, row, 'revoke', transaction);
  };
