import type { X402Terms } from './model/x402-request.ts';
import type { Vendor } from './vendor.ts';

export type TermsDeps = {
  x402Network: string;
  mint: string;
  /** The fee payers that co-sign. The first one is advertised. */
  getFeePayers: () => Promise<readonly string[]>;
};

/** What every x402 request of a vendor must name. */
export const termsFor = async (
  { x402Network, mint, getFeePayers }: TermsDeps,
  { payoutAddress }: Vendor,
): Promise<X402Terms> => ({
  network: x402Network,
  mint,
  payTo: payoutAddress,
  feePayers: await getFeePayers(),
});
