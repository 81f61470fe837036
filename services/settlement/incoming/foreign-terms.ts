import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import type { Peers } from '../peers.ts';
import type { ServiceTerms } from '../terms.ts';
import { mppNetworkOf, TOKEN_PROGRAM } from './model/networks.ts';
import { getVendor, type PayoutDeps, preparePayout } from './vendor.ts';
import type { TermsDeps } from './x402-order.ts';

export type ForeignTermsDeps = TermsDeps &
  PayoutDeps &
  Pick<Peers, 'findService'> &
  Pick<ServiceTerms, 'feeWallet' | 'fee'>;

/** GET /v1/settlements/foreign/terms: what a 402 of x402 or MPP contains. */
export const foreignTerms =
  (deps: ForeignTermsDeps): Handler<typeof settlement.operations.foreignTerms> =>
  async (_input, caller) => {
    const vendor = await getVendor(deps, caller);
    preparePayout(deps, vendor);
    const feePayers = await deps.getFeePayers();
    return {
      network: deps.x402Network,
      mpp_network: mppNetworkOf(deps.x402Network),
      mint: deps.mint,
      decimals: 6,
      token_program: TOKEN_PROGRAM,
      fee_payer: feePayers[0]!,
      payout_address: vendor.payoutAddress,
      fee: {
        bps: Number(deps.fee.bps),
        min: formatMicro(deps.fee.minMicro),
        fee_wallet: deps.feeWallet,
      },
    };
  };
