import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { listIssued } from '../record/store/settlements.ts';
import { showPaid } from '../record/view.ts';

/** int.settlement.listPaid. */
export const listPaid =
  ({ pool }: { pool: Pool }): Handler<typeof settlement.internal.listPaid> =>
  async (page) =>
    (await listIssued(pool, page)).map(showPaid);
