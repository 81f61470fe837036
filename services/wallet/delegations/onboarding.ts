import type { Handler } from '../../../shared/contract/service.ts';
import type { wallet } from '../../../shared/contract/wallet.ts';
import { parseMicro } from '../../../shared/lib/micro.ts';
import type { Deps } from '../deps.ts';
import { ownWallet } from '../wallets/view.ts';
import { prepare } from './prepared.ts';

/** POST /v1/wallets/:wallet_id/onboarding. */
export const onboarding =
  (deps: Deps): Handler<typeof wallet.operations.onboarding> =>
  async ({ wallet_id, allowance }, caller) =>
    prepare(deps, await ownWallet(deps, caller.account_id, wallet_id), parseMicro(allowance));
