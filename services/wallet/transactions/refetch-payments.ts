import type { Records } from '../../../shared/boot.ts';
import { MAX_PAID_LISTED } from '../../../shared/contract/settlement.ts';
import type { Peers } from '../peers.ts';
import { movementOfPayment } from './movements.ts';
import { claimIncompletePayments, upsertMovements } from './store.ts';

/**
 * Fetches payments from settlement whose events may have been lost (a NATS whose storage was
 * wiped). Otherwise they would be missing from the lists, or stay unfinished there, until the next
 * rebuild.
 */
export const refetchPayments =
  ({ pool, listPaidByIds }: Pick<Records, 'pool'> & Pick<Peers, 'listPaidByIds'>) =>
  async (): Promise<void> => {
    for (;;) {
      const settlement_ids = await claimIncompletePayments(pool, MAX_PAID_LISTED);
      if (settlement_ids.length === 0) return;
      const paid = await listPaidByIds({ settlement_ids });
      await upsertMovements(
        pool,
        paid.map((payment) => movementOfPayment(payment, payment.status)),
      );
      if (settlement_ids.length < MAX_PAID_LISTED) return;
    }
  };
