import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { readForCaller } from '../chain/read-for-caller.ts';
import type { TokenAccounts } from '../chain/token-accounts.ts';
import type { Network } from '../ledger/model/network.ts';
import { toWalletSnapshot } from './view.ts';

type Deps = {
  tokenAccounts: TokenAccounts;
  network: Network;
};

/** Balance and delegation of an owner's token account at confirmed commitment. */
export const observeWallet =
  ({ tokenAccounts, network }: Deps): Handler<typeof chainSubmitter.internal.observeWallet> =>
  async ({ owner }) => {
    const { slot, account } = await readForCaller(tokenAccounts.get(owner));
    return toWalletSnapshot(owner, account, { network, slot });
  };
