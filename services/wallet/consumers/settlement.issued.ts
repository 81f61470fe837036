import type { z } from 'zod';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Deps } from '../deps.ts';
import { movementOfPayment } from '../movements.ts';
import { putMovements } from '../store/transactions.ts';

export const issued =
  ({ pool }: Pick<Deps, 'pool'>) =>
  async (fact: z.infer<typeof settlement.events.issued>): Promise<void> => {
    // From before the fact told the payment: the rebuild knows it.
    if (!('account_id' in fact)) return;
    await putMovements(pool, [movementOfPayment(fact, 'confirmed')]);
  };
