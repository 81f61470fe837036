import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Reads } from '../../../shared/db/reads.ts';
import { listHandler, ofAccount } from '../../../shared/lists/list.ts';
import { listPasskeyRows } from './store/passkeys.ts';
import { showPasskey } from './view.ts';

/** GET /v1/accounts/me/passkeys. */
export const listPasskeys = (deps: {
  reads: Reads;
  cursorKeys: readonly Buffer[];
}): Handler<typeof identity.operations.listPasskeys> =>
  listHandler(deps, 'passkeys', {
    scope: ofAccount,
    rows: listPasskeyRows,
    place: (row) => row.passkey_id,
    show: (rows) => rows.map(showPasskey),
  });
