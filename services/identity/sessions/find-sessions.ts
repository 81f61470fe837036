import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { listSessionStatuses } from './store/sessions.ts';

const CLOSED = { open: false, frozen: false, limit_factor: 1 };

/** Internal: whether the sessions of access tokens are open, and the status of their accounts. */
export const findSessions =
  ({ pool }: { pool: Pool }): Handler<typeof identity.internal.findSessions> =>
  async ({ sessions }) => {
    const open = await listSessionStatuses(pool, sessions);
    const statuses = new Map(open.map(({ session_id, ...status }) => [session_id, status]));
    return sessions.map(({ session_id, account_id }) => {
      const found = statuses.get(session_id);
      if (found === undefined || found.account_id !== account_id) return CLOSED;
      return { open: true, frozen: found.frozen, limit_factor: found.limit_factor };
    });
  };
