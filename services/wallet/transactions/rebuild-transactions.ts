import { type funding, MAX_MOVED_LISTED } from '../../../shared/contract/funding.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { MAX_PAID_LISTED, type settlement } from '../../../shared/contract/settlement.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { movementOfFunds, movementOfPayment } from './movements.ts';
import { deleteTransactions, upsertMovements } from './store/transactions.ts';

type Page = { after: string | null; limit: number };

/** All pages of a list in the order of its ids. */
async function* pagesOf<Item>(
  list: (page: Page) => Promise<Item[]>,
  idOf: (item: Item) => string,
  limit: number,
): AsyncGenerator<Item[]> {
  let after: string | null = null;
  for (;;) {
    const items: Item[] = await list({ after, limit });
    if (items.length > 0) yield items;
    if (items.length < limit) return;
    after = idOf(items.at(-1)!);
  }
}

/**
 * Rebuilds the transactions from the tables of the services that own them. The service may run
 * meanwhile. A row that is deleted here was committed by its owner before its event was published,
 * so a page that is read later contains it. What changes after its page was read arrives as an
 * event.
 * @returns how many rows of each owner were recorded
 */
export const rebuildTransactions = async (
  pool: Pool,
  {
    listPaid,
    listMoved,
  }: {
    listPaid: Handler<typeof settlement.internal.listPaid>;
    listMoved: Handler<typeof funding.internal.listMoved>;
  },
): Promise<{ payments: number; funds: number }> => {
  await deleteTransactions(pool);
  let [payments, funds] = [0, 0];
  for await (const page of pagesOf(listPaid, ({ settlement_id }) => settlement_id, MAX_PAID_LISTED)) {
    await upsertMovements(
      pool,
      page.map((payment) => movementOfPayment(payment, payment.status)),
    );
    payments += page.length;
  }
  for await (const page of pagesOf(listMoved, ({ object_id }) => object_id, MAX_MOVED_LISTED)) {
    await upsertMovements(pool, page.map(movementOfFunds));
    funds += page.length;
  }
  return { payments, funds };
};
