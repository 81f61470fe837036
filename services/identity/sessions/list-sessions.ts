import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Reads } from '../../../shared/db/reads.ts';
import { listHandler, ofAccount } from '../../../shared/lists/list.ts';
import { listSessionRows } from './store/sessions.ts';
import { showSession } from './view.ts';

/** GET /v1/accounts/me/sessions. */
export const listSessions = (deps: {
  reads: Reads;
  cursorKeys: readonly Buffer[];
}): Handler<typeof identity.operations.listSessions> =>
  listHandler(deps, 'sessions', {
    scope: ofAccount,
    rows: listSessionRows,
    place: (row) => row.session_id,
    show: (rows, { session_id }) => rows.map((row) => showSession(row, session_id)),
  });
