import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { getSessionStatus } from './store/sessions.ts';

/** Internal: whether the session of an access token is open, and the status of its account. */
export const findSession =
  ({ pool }: { pool: Pool }): Handler<typeof identity.internal.findSession> =>
  ({ session_id, account_id }) =>
    getSessionStatus(pool, account_id, session_id);
