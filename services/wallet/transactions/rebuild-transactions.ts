import type { z } from 'zod';
import { type funding, MAX_MOVED_LISTED } from '../../../shared/contract/funding.ts';
import { MAX_PAID_LISTED, type settlement } from '../../../shared/contract/settlement.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { movementOfFunds, movementOfPayment } from './movements.ts';
import { forgetTransactions, putMovements } from './store.ts';

type Page = { after: string | null; limit: number };
/** The owners of what is projected; asked page by page. */
export type Owners = {
  listPaid: (page: Page) => Promise<z.infer<typeof settlement.internal.listPaid.output>>;
  listMoved: (page: Page) => Promise<z.infer<typeof funding.internal.listMoved.output>>;
};

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
 * Builds the transactions anew from the tables that own them; the service may run meanwhile. What is forgotten first was
 * committed by its owner before it was told, so a page that is read later has it, and what changes after its page was
 * read is told by a fact.
 * @returns how many of each owner were taken over
 */
export const rebuildTransactions = async (
  pool: Pool,
  { listPaid, listMoved }: Owners,
): Promise<{ payments: number; funds: number }> => {
  await forgetTransactions(pool);
  let [payments, funds] = [0, 0];
  for await (const page of pagesOf(listPaid, ({ settlement_id }) => settlement_id, MAX_PAID_LISTED)) {
    await putMovements(
      pool,
      page.map((payment) => movementOfPayment(payment, payment.status)),
    );
    payments += page.length;
  }
  for await (const page of pagesOf(listMoved, ({ object_id }) => object_id, MAX_MOVED_LISTED)) {
    await putMovements(pool, page.map(movementOfFunds));
    funds += page.length;
  }
  return { payments, funds };
};
