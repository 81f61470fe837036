import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { openCursor, pageLimit, pageOf } from '../../../shared/db/cursor.ts';
import { spendingOf } from '../delegates.ts';
import type { Deps } from '../deps.ts';
import { type DelegateRow, listOwnDelegates } from '../store/delegates.ts';
import { showDelegate } from '../view.ts';

/** GET /v1/delegates: the account's delegates, newest first. */
export const listDelegates =
  (deps: Deps): Handler<typeof identity.operations.listDelegates> =>
  async (input, { account_id }) => {
    const binding = ['delegates', account_id];
    const limit = pageLimit(input.limit);
    const before = openCursor(deps.cursorKey, binding, input.cursor);
    const rows = await listOwnDelegates(deps.pool, account_id, { before, limit });
    const spending = await spendingOf(deps, account_id, rows.slice(0, limit));
    return pageOf(rows, limit, {
      key: deps.cursorKey,
      binding,
      idOf: ({ delegate_id }: DelegateRow) => delegate_id,
      show: (row: DelegateRow) => showDelegate(row, spending(row.delegate_id)),
    });
  };
