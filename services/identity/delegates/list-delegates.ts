import type { Records } from '../../../shared/boot.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { listHandler } from '../../../shared/lists/list.ts';
import type { Peers } from '../peers.ts';
import type { Terms } from '../terms.ts';
import { getSpending } from './spending.ts';
import { listDelegateRows } from './store.ts';
import { showDelegate } from './view.ts';

/** GET /v1/delegates: the account's current or revoked delegates, newest first. */
export const listDelegates = (
  deps: Pick<Records, 'reads'> & Pick<Terms, 'cursorKeys'> & Pick<Peers, 'listDelegateSpending'>,
): Handler<typeof identity.operations.listDelegates> =>
  listHandler(deps, 'delegates', {
    scope: ({ status = 'current' }, { account_id }) => ({ account_id, status }),
    rows: listDelegateRows,
    place: (row) => row.delegate_id,
    show: async (rows, { account_id }) => {
      const spending = await getSpending(deps, account_id, rows);
      return rows.map((row) => showDelegate(row, spending(row.delegate_id)));
    },
  });
