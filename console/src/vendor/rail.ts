import type { Settlement } from './sales-figures.ts';

export type Rail = Settlement['rail'];

const NAMES: Record<Rail, string> = {
  quittance: 'Quittance',
  x402: 'x402',
  mpp: 'MPP',
  x402_out: 'x402, outgoing',
};

/** The protocols by which customers pay, with their names for users. */
export const RAILS = (Object.entries(NAMES) as [Rail, string][]).filter(([rail]) => rail !== 'x402_out');
export const railName = (rail: Rail): string => NAMES[rail];
