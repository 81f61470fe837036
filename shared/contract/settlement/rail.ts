import { z } from 'zod';

/** How a settlement was paid: by our settle, or by a transaction of another protocol. */
export const Rail = z.enum(['quittance', 'x402', 'mpp', 'x402_out', 'mpp_out']).meta({
  id: 'Rail',
  description:
    'quittance: paid by POST /v1/settle. x402, mpp: paid by a client of that protocol. x402_out, mpp_out: paid by POST /v1/payments to a vendor of that protocol that does not use Quittance. There may be further ones',
});
export type Rail = z.infer<typeof Rail>;

/** The rails of payments that a client of another protocol has signed. */
export const IncomingRail = Rail.extract(['x402', 'mpp']);
export type IncomingRail = z.infer<typeof IncomingRail>;

/** The rails of payments to vendors that do not use Quittance. */
export const OutgoingRail = Rail.extract(['x402_out', 'mpp_out']);
export type OutgoingRail = z.infer<typeof OutgoingRail>;

/** Whether a payment was made to a vendor that does not use Quittance. */
export const isOutgoingRail = (rail: string): rail is OutgoingRail =>
  OutgoingRail.options.some((each) => each === rail);
