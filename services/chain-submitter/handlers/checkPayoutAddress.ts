import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import { invalid } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { tokenAccountOf } from '../addresses.ts';
import type { Deps } from '../deps.ts';
import { whyNotOwner } from '../owner.ts';
import { reading } from '../reading.ts';

/** Whether an address may receive payouts. */
export const checkPayoutAddress =
  (deps: Deps): Handler<typeof chainSubmitter.internal.checkPayoutAddress> =>
  async ({ payout_address: address, allow_off_curve: allowOffCurve }) => {
    const why = await reading(whyNotOwner(deps, address, { allowOffCurve }));
    if (why !== null) throw invalid('payout_address', why);
    return { token_account: tokenAccountOf(address, deps.network.mint) };
  };
