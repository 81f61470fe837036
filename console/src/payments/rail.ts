import type { Output } from '../../../sdk/src/main.ts';
import { isOutgoingRail } from '../../../sdk/src/payment.ts';

export type Rail = Output<'settlement.get'>['rail'];

const NAMES: Record<Rail, string> = {
  quittance: 'Quittance',
  x402: 'x402',
  mpp: 'MPP',
  x402_out: 'x402, outgoing',
  mpp_out: 'MPP, outgoing',
};

/** The protocols by which customers pay, with their names for users. */
export const RAILS = (Object.entries(NAMES) as [Rail, string][]).filter(([rail]) => !isOutgoingRail(rail));
export const railName = (rail: Rail): string => NAMES[rail];
