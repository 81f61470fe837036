import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { listHandler, ofAccount } from '../../../shared/lists/list.ts';
import type { Deps } from '../deps.ts';
import { showDelegate } from '../sessions/view.ts';
import { spendingOf } from './spending.ts';
import { listOwnDelegates } from './store.ts';

/** GET /v1/delegates: the account's delegates, newest first. */
export const listDelegates = (deps: Deps): Handler<typeof identity.operations.listDelegates> =>
  listHandler(deps, 'delegates', {
    scope: ofAccount,
    rows: listOwnDelegates,
    place: (row) => row.delegate_id,
    show: async (rows, { account_id }) => {
      const spending = await spendingOf(deps, account_id, rows);
      return rows.map((row) => showDelegate(row, spending(row.delegate_id)));
    },
  });
