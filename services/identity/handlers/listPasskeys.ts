import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { openCursor, pageLimit, pageOf } from '../../../shared/db/cursor.ts';
import type { Deps } from '../deps.ts';
import { listOwnPasskeys } from '../store/passkeys.ts';
import { showPasskey } from '../view.ts';

/** GET /v1/accounts/me/passkeys. */
export const listPasskeys =
  (deps: Deps): Handler<typeof identity.operations.listPasskeys> =>
  async (input, { account_id }) => {
    const binding = ['passkeys', account_id];
    const limit = pageLimit(input.limit);
    const before = openCursor(deps.cursorKey, binding, input.cursor);
    const rows = await listOwnPasskeys(deps.pool, account_id, { before, limit });
    const idOf = (row: { passkey_id: string }) => row.passkey_id;
    return pageOf(rows, limit, { key: deps.cursorKey, binding, idOf, show: showPasskey });
  };
