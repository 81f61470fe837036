import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { listDelegates } from './store.ts';
import { showDelegate } from './view.ts';

/** int.settlement.listDelegateSpending: what delegates may spend and have spent. */
export const listDelegateSpending =
  ({ pool }: { pool: Pool }): Handler<typeof settlement.internal.listDelegateSpending> =>
  async ({ account_id, delegate_ids }) =>
    (await listDelegates(pool, account_id, delegate_ids)).map(showDelegate);
