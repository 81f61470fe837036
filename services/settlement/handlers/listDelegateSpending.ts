import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Deps } from '../deps.ts';
import { findDelegateRows } from '../store/delegates.ts';
import { showDelegate } from '../view.ts';

/** Internal: what delegates may spend and have spent. */
export const listDelegateSpending =
  ({ pool }: Pick<Deps, 'pool'>): Handler<typeof settlement.internal.listDelegateSpending> =>
  async ({ account_id, delegate_ids }) =>
    (await findDelegateRows(pool, account_id, delegate_ids)).map(showDelegate);
