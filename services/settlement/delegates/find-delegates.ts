import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Deps } from '../deps.ts';
import { showDelegate } from '../settlements/view.ts';
import { findDelegateRows } from './store.ts';

/** Internal: what delegates may spend and have spent. */
export const findDelegates =
  ({ pool }: Pick<Deps, 'pool'>): Handler<typeof settlement.internal.findDelegates> =>
  async ({ account_id, delegate_ids }) =>
    (await findDelegateRows(pool, account_id, delegate_ids)).map(showDelegate);
