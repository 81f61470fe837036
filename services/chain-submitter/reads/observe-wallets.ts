import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { readForCaller } from '../chain/read-for-caller.ts';
import type { TokenAccounts } from '../chain/token-accounts.ts';
import type { Network } from '../ledger/model/network.ts';
import { toWalletSnapshot } from './view.ts';

/** Balance and delegation of many owners' token accounts at confirmed commitment: one RPC call. */
export const observeWallets =
  ({
    tokenAccounts,
    network,
  }: {
    tokenAccounts: TokenAccounts;
    network: Network;
  }): Handler<typeof chainSubmitter.internal.observeWallets> =>
  async ({ owners }) => {
    const { slot, accounts } = await readForCaller(tokenAccounts.list(owners));
    return {
      snapshots: owners.map((owner, at) => toWalletSnapshot(owner, accounts[at]!, { network, slot })),
    };
  };
