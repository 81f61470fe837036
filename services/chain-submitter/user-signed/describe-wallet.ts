import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import { invalid } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { tokenAccountOf } from '../chain/addresses.ts';
import type { Network } from '../chain/model/network.ts';
import { readForCaller } from '../chain/read-for-caller.ts';
import type { Rpc } from '../chain/rpc-pool.ts';
import { findOwnerProblem } from './owner.ts';

type Deps = {
  network: Network;
  rpc: Rpc;
};

/** Token account and delegate authority of a wallet to be linked. The newest authority serves new onboardings. */
export const describeWallet =
  (deps: Deps): Handler<typeof chainSubmitter.internal.describeWallet> =>
  async ({ public_key: owner }) => {
    const why = await readForCaller(findOwnerProblem(deps, owner, { allowOffCurve: false }));
    if (why !== null) throw invalid('public_key', why);
    const { mint, delegateAuthorities } = deps.network;
    return { token_account: tokenAccountOf(owner, mint), authority: delegateAuthorities[0]! };
  };
