import type { z } from 'zod';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Movement } from './model/transaction.ts';
import { movementOfPayment } from './movements.ts';

type Events = typeof settlement.events;

export const issued = (event: z.infer<Events['issued']>): Movement[] => [
  movementOfPayment(event, 'confirmed'),
];

export const finalized = ({ settlement_id, tx_hash }: z.infer<Events['finalized']>): Movement[] => [
  { objectId: settlement_id, type: 'payment', status: 'finalized', txHash: tx_hash, details: null },
];

/** A reversed payment is not spent, redeemed or not: its payer has the money again. */
export const reversed = ({ settlement_id }: z.infer<Events['reversed']>): Movement[] => [
  { objectId: settlement_id, type: 'payment', status: 'reversed', txHash: null, details: null },
];
