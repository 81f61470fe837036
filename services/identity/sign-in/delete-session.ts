import { notFound } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Outbox } from '../../../shared/events/relay.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { hasSession } from '../sessions/store/sessions.ts';
import { endSessions } from './end-sessions.ts';

/** DELETE /v1/accounts/me/sessions/:session_id. A repeat changes nothing. */
export const deleteSession =
  (deps: {
    pool: Pool;
    clock: Clock;
    relay: Outbox;
    sendMailsNow: () => void;
  }): Handler<typeof identity.operations.deleteSession> =>
  async ({ session_id }, { account_id }) => {
    const { pool } = deps;
    const outbox = await pool.transaction((tx) => endSessions(tx, deps, account_id, [session_id]));
    deps.relay.dispatch(outbox);
    deps.sendMailsNow();
    if (outbox.length === 0 && !(await hasSession(pool, account_id, session_id))) {
      throw notFound('sign-in');
    }
    return null;
  };
