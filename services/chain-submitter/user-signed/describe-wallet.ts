import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import { invalid } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { tokenAccountOf } from '../chain/addresses.ts';
import { readForCaller } from '../chain/read-for-caller.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import type { Network } from '../ledger/model/network.ts';
import { findOwnerProblem } from './owner.ts';

type Deps = {
  network: Network;
  rpc: RpcPool;
};

/**
 * The token account and the delegate authority of a wallet that is to be linked. New wallets get
 * the newest authority.
 */
export const describeWallet =
  (deps: Deps): Handler<typeof chainSubmitter.internal.describeWallet> =>
  async ({ public_key: owner }) => {
    const problem = await readForCaller(findOwnerProblem(deps, owner, { allowOffCurve: false }));
    if (problem !== null) throw invalid('public_key', problem);
    const { mint, delegateAuthorities } = deps.network;
    return { token_account: tokenAccountOf(owner, mint), authority: delegateAuthorities[0]! };
  };
