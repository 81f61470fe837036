import type { z } from 'zod';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Movement } from './model/transaction.ts';

export const finalized = ({
  settlement_id,
  tx_hash,
}: z.infer<typeof settlement.events.finalized>): Movement[] => [
  { objectId: settlement_id, type: 'payment', status: 'finalized', txHash: tx_hash, details: null },
];
