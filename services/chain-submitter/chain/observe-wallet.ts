import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Network } from './model/network.ts';
import { reading } from './read-for-caller.ts';
import type { ChainView } from './token-accounts.ts';
import { sightOf } from './view.ts';

type Deps = {
  chain: ChainView;
  network: Network;
};

/** Balance and delegation of an owner's token account at confirmed commitment. */
export const observeWallet =
  ({ chain, network }: Deps): Handler<typeof chainSubmitter.internal.observeWallet> =>
  async ({ owner }) => {
    const { slot, account } = await reading(chain.tokenAccount(owner));
    return sightOf(owner, account, { network, slot });
  };
