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

/** Whether an address may receive payouts. */
export const checkPayoutAddress =
  (deps: Deps): Handler<typeof chainSubmitter.internal.checkPayoutAddress> =>
  async ({ payout_address: address, allow_off_curve: allowOffCurve }) => {
    const problem = await readForCaller(findOwnerProblem(deps, address, { allowOffCurve }));
    if (problem !== null) throw invalid('payout_address', problem);
    return { token_account: tokenAccountOf(address, deps.network.mint) };
  };
