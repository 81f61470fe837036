import type { Handler } from '../../../shared/contract/service.ts';
import type { wallet } from '../../../shared/contract/wallet.ts';
import { parseMicro } from '../../../shared/lib/money/micro.ts';
import { getWallet } from '../wallets/store.ts';
import { type PrepareDelegationDeps, prepareDelegation } from './prepare-delegation.ts';

/** POST /v1/wallets/:wallet_id/onboarding. */
export const onboarding =
  (deps: PrepareDelegationDeps): Handler<typeof wallet.operations.onboarding> =>
  async ({ wallet_id, allowance }, { account_id }) =>
    prepareDelegation(deps, await getWallet(deps.pool, account_id, wallet_id), parseMicro(allowance));
