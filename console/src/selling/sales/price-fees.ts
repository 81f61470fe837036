import { displayUsdc } from '../../../../sdk/src/generated/usdc.ts';
import type { Output } from '../../../../sdk/src/main.ts';

/** What the fee leaves of a price. */
export type Fee = Output<'identity.showFee'>;

/** The error of a price that leaves nothing after its fee. */
export const belowFee = ({ fee_amount, lowest_price }: Fee): string =>
  `The fee is ${displayUsdc(fee_amount)}. The lowest price is ${displayUsdc(lowest_price)}.`;

export const received = ({ fee_amount, net_amount }: Fee): string =>
  `You receive ${displayUsdc(net_amount)} per call after the ${displayUsdc(fee_amount)} fee.`;
