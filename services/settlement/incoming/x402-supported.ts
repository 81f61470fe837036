import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Peers } from '../peers.ts';
import { v1NetworkOf } from './model/networks.ts';
import { getVendor, type PayoutDeps, preparePayout } from './vendor.ts';
import type { TermsDeps } from './x402-order.ts';

type Deps = Omit<TermsDeps, 'mint'> & PayoutDeps & Pick<Peers, 'findService'>;

/** GET /v1/x402/supported. A stock vendor reads it once, so the fee payer may change later. */
export const x402Supported =
  (deps: Deps): Handler<typeof settlement.operations.x402Supported> =>
  async (_input, caller) => {
    preparePayout(deps, await getVendor(deps, caller));
    const { x402Network } = deps;
    const feePayers = await deps.getFeePayers();
    const extra = { feePayer: feePayers[0]! };
    const v1 = v1NetworkOf(x402Network);
    const kinds = [
      { x402Version: 2, scheme: 'exact', network: x402Network, extra },
      ...(v1 === null ? [] : [{ x402Version: 1, scheme: 'exact', network: v1, extra }]),
    ];
    return { kinds, extensions: ['payment-identifier'], signers: { 'solana:*': [...feePayers] } };
  };
