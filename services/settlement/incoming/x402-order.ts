import type { z } from 'zod';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Peers } from '../peers.ts';
import type { ServiceTerms } from '../terms.ts';
import { mismatchOf } from './model/refusal.ts';
import { readX402Request, type X402Refusal, type X402Terms } from './model/x402-request.ts';
import type { Presented } from './order.ts';
import type { Vendor } from './vendor.ts';
import { toX402 } from './x402-refusal.ts';

export type TermsDeps = Pick<ServiceTerms, 'x402Network' | 'mint'> & Pick<Peers, 'getFeePayers'>;

/** What every x402 request of a vendor must name. */
const termsFor = async (
  { x402Network, mint, getFeePayers }: TermsDeps,
  { payoutAddress }: Vendor,
): Promise<X402Terms> => ({
  network: x402Network,
  mint,
  payTo: payoutAddress,
  feePayers: await getFeePayers(),
});

type Request = z.infer<typeof settlement.operations.x402Settle.input>;

/**
 * A request of x402's verify or settle: one transfer of the exact amount, so its fee accrues. A
 * recorded payment is compared with the payee that it was accepted for, and any fee payer is right.
 */
export const presentX402 = (deps: TermsDeps, request: Request, vendor: Vendor): Presented<X402Refusal> => ({
  vendor,
  transaction: request.paymentPayload.payload.transaction,
  refuse: toX402,
  orderNow: async () => {
    const read = readX402Request(request, await termsFor(deps, vendor));
    return 'reason' in read ? { refused: read } : { ...read, rail: 'x402', vendor, feeMicro: 0n, link: null };
  },
  mismatch: (row) => {
    const { x402Network: network, mint } = deps;
    const read = readX402Request(request, { network, mint, payTo: row.payout_address!, feePayers: null });
    if ('reason' in read) return read;
    const mismatch = mismatchOf(row, { ...read, rail: 'x402' });
    return mismatch && toX402(mismatch);
  },
});
