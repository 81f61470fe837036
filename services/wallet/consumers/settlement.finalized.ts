import type { z } from 'zod';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Deps } from '../deps.ts';
import { putMovements } from '../store/transactions.ts';

export const finalized =
  ({ pool }: Pick<Deps, 'pool'>) =>
  async ({ settlement_id, tx_hash }: z.infer<typeof settlement.events.finalized>): Promise<void> => {
    await putMovements(pool, [
      { objectId: settlement_id, type: 'payment', status: 'finalized', txHash: tx_hash, details: null },
    ]);
  };
