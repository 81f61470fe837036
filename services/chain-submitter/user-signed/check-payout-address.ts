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

/** Whether an address may receive payouts. */
export const checkPayoutAddress =
  (deps: Deps): Handler<typeof chainSubmitter.internal.checkPayoutAddress> =>
  async ({ payout_address: address, allow_off_curve: allowOffCurve }) => {
    const why = await readForCaller(findOwnerProblem(deps, address, { allowOffCurve }));
    if (why !== null) throw invalid('payout_address', why);
    return { token_account: tokenAccountOf(address, deps.network.mint) };
  };
