import type { X402Order } from './model/x402-request.ts';
import type { ForeignOrder } from './pay.ts';
import type { Vendor } from './vendor.ts';

/** The order of an x402 request: one transfer of the exact amount, so its fee accrues. */
export const x402OrderOf = (vendor: Vendor, { network: _, ...order }: X402Order): ForeignOrder => ({
  ...order,
  rail: 'x402',
  vendor,
  feeMicro: 0n,
});
