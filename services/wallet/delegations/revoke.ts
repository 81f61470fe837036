import type { Handler } from '../../../shared/contract/service.ts';
import type { wallet } from '../../../shared/contract/wallet.ts';
import { getWallet } from '../wallets/store.ts';
import { type PrepareDelegationDeps, prepareDelegation } from './prepare-delegation.ts';
import { type SubmitDelegationDeps, submitDelegation } from './submit-delegation.ts';

/** POST /v1/wallets/:wallet_id/revoke: prepares a transaction, or submits the signed one. */
export const revoke =
  (deps: SubmitDelegationDeps & PrepareDelegationDeps): Handler<typeof wallet.operations.revoke> =>
  async ({ wallet_id, transaction }, { account_id }) => {
    const row = await getWallet(deps.pool, account_id, wallet_id);
    return transaction === undefined
      ? prepareDelegation(deps, row, null)
      : submitDelegation(deps, row, 'revoke', transaction);
  };
