import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { listHandler, ofAccount } from '../../../shared/lists/list.ts';
import type { Deps } from '../deps.ts';
import { showPasskey } from '../sessions/view.ts';
import { listOwnPasskeys } from './store/passkeys.ts';

/** GET /v1/accounts/me/passkeys. */
export const listPasskeys = (deps: Deps): Handler<typeof identity.operations.listPasskeys> =>
  listHandler(deps, 'passkeys', {
    scope: ofAccount,
    rows: listOwnPasskeys,
    place: (row) => row.passkey_id,
    show: (rows) => rows.map(showPasskey),
  });
