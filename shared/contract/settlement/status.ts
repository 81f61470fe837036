import { z } from 'zod';

export const SettlementStatus = z
  .enum(['pending', 'authorized', 'capturing', 'issued', 'redeemed', 'expired', 'voided', 'failed'])
  .meta({
    id: 'SettlementStatus',
    description:
      'authorized: a ceiling is held, and nothing is paid yet. capturing: the payment of a part of it is under way. ' +
      'voided: an authorization that ended without a payment. ' +
      'pending: the payment is under way. issued: it is confirmed and can be redeemed. redeemed: the vendor delivers. ' +
      'expired: paid, and not redeemed in time. failed: no money moved and none will',
  });
export const ChainStatus = z.enum(['none', 'pending', 'confirmed', 'finalized', 'failed']).meta({
  id: 'ChainStatus',
  description:
    'The state of the payment on chain. none: there is none yet. finalized: no fork can undo it any more',
});
