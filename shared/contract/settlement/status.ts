import { z } from 'zod';

export const SettlementStatus = z.enum(['pending', 'issued', 'redeemed', 'expired', 'failed']).meta({
  id: 'SettlementStatus',
  description:
    'pending: the payment is under way. issued: it is confirmed and can be redeemed. redeemed: the vendor delivers. ' +
    'expired: paid, and not redeemed in time. failed: no money moved and none will',
});
export const ChainStatus = z.enum(['pending', 'confirmed', 'finalized', 'failed']).meta({
  id: 'ChainStatus',
  description: 'The state of the payment on chain. finalized: no fork can undo it any more',
});
