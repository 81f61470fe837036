import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { reading } from '../reading.ts';
import { sightOf } from '../sight.ts';

/** Balance and delegation of many owners' token accounts at confirmed commitment: one RPC call. */
export const observeWallets =
  ({
    chain,
    network,
  }: Pick<Deps, 'chain' | 'network'>): Handler<typeof chainSubmitter.internal.observeWallets> =>
  async ({ owners }) => {
    const { slot, accounts } = await reading(chain.tokenAccounts(owners));
    return { snapshots: owners.map((owner, at) => sightOf(owner, accounts[at]!, { network, slot })) };
  };
