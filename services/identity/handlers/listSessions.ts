import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { openCursor, pageLimit, pageOf } from '../../../shared/db/cursor.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import type { Deps } from '../deps.ts';
import { type ListedSession, listOpenSessions } from '../store/sessions.ts';

/** GET /v1/accounts/me/sessions. */
export const listSessions =
  (deps: Deps): Handler<typeof identity.operations.listSessions> =>
  async (input, { account_id, session_id: current }) => {
    const binding = ['sessions', account_id];
    const limit = pageLimit(input.limit);
    const before = openCursor(deps.cursorKey, binding, input.cursor);
    const rows = await listOpenSessions(deps.pool, account_id, { before, limit });
    return pageOf(rows, limit, {
      key: deps.cursorKey,
      binding,
      idOf: (row: ListedSession) => row.session_id,
      show: ({ session_id, amr, signed_in_at, rotated_at, expires_at }) => ({
        session_id,
        current: session_id === current,
        method: amr.includes('passkey') ? ('passkey' as const) : ('email' as const),
        signed_in_at: isoTime(signed_in_at),
        last_refreshed_at: isoTime(rotated_at),
        expires_at: isoTime(expires_at),
      }),
    });
  };
