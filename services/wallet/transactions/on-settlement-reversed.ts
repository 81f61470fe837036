import type { z } from 'zod';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Movement } from './model/transaction.ts';

/** Redeemed or not: the money is back with its payer, so it is not spent. */
export const reversed = ({ settlement_id }: z.infer<typeof settlement.events.reversed>): Movement[] => [
  { objectId: settlement_id, type: 'payment', status: 'reversed', txHash: null, details: null },
];
