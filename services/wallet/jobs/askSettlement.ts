import { MAX_PAID_LISTED } from '../../../shared/contract/settlement.ts';
import type { Deps } from '../deps.ts';
import { movementOfPayment } from '../movements.ts';
import { claimUnsure, putMovements } from '../store/transactions.ts';

/**
 * Asks settlement about payments whose facts may have been lost (a NATS that was wiped): else they would be missing from
 * the lists, or stay unfinished there, until the next rebuild. An answer counts as the facts that were missed.
 */
export const askSettlement =
  ({ pool, listPaidByIds }: Pick<Deps, 'pool' | 'listPaidByIds'>) =>
  async (): Promise<void> => {
    for (;;) {
      const unsure = await claimUnsure(pool, MAX_PAID_LISTED);
      if (unsure.length === 0) return;
      const paid = await listPaidByIds(unsure);
      await putMovements(
        pool,
        paid.map((payment) => movementOfPayment(payment, payment.status)),
      );
      if (unsure.length < MAX_PAID_LISTED) return;
    }
  };
