import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { listHandler, ofAccount } from '../../../shared/lists/list.ts';
import type { Deps } from '../deps.ts';
import { listOpenSessions } from './store/sessions.ts';

/** GET /v1/accounts/me/sessions. */
export const listSessions = (deps: Deps): Handler<typeof identity.operations.listSessions> =>
  listHandler(deps, 'sessions', {
    scope: ofAccount,
    rows: listOpenSessions,
    place: (row) => row.session_id,
    show: (rows, { session_id: current }) =>
      rows.map(({ session_id, amr, signed_in_at, rotated_at, expires_at }) => ({
        session_id,
        current: session_id === current,
        method: amr.includes('passkey') ? ('passkey' as const) : ('email' as const),
        signed_in_at: isoTime(signed_in_at),
        last_refreshed_at: isoTime(rotated_at),
        expires_at: isoTime(expires_at),
      })),
  });
