import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { listIssuedByIds } from '../record/store/settlements.ts';
import { showPaid } from '../record/view.ts';

/** int.settlement.listPaidByIds. */
export const listPaidByIds =
  ({ pool }: { pool: Pool }): Handler<typeof settlement.internal.listPaidByIds> =>
  async ({ settlement_ids }) =>
    (await listIssuedByIds(pool, settlement_ids)).map(showPaid);
