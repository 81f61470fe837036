import type { z } from 'zod';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Deps } from '../deps.ts';
import { putMovements } from '../store/transactions.ts';

/** Redeemed or not: the money is back with its payer, so it is not spent. */
export const reversed =
  ({ pool }: Pick<Deps, 'pool'>) =>
  async ({ settlement_id }: z.infer<typeof settlement.events.reversed>): Promise<void> => {
    await putMovements(pool, [
      { objectId: settlement_id, type: 'payment', status: 'reversed', txHash: null, details: null },
    ]);
  };
