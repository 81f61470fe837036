import { z } from 'zod';

/** How a settlement was paid: by our settle, or by a transaction that another client signed. */
export const Rail = z.enum(['quittance', 'x402', 'mpp']).meta({
  id: 'Rail',
  description: 'quittance: paid by POST /v1/settle. x402, mpp: paid by a client of that protocol',
});
export type Rail = z.infer<typeof Rail>;
