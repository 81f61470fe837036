import { notFound } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Relay } from '../../../shared/events/relay.ts';
import { hasSession, revokeSessions } from './store/sessions.ts';

/** DELETE /v1/accounts/me/sessions/:session_id. A repeat changes nothing. */
export const deleteSession =
  ({
    pool,
    relay,
  }: {
    pool: Pool;
    relay: Pick<Relay, 'dispatch'>;
  }): Handler<typeof identity.operations.deleteSession> =>
  async ({ session_id }, { account_id }) => {
    const outbox = await pool.transaction((tx) => revokeSessions(tx, account_id, [session_id]));
    relay.dispatch(outbox);
    if (outbox.length === 0 && !(await hasSession(pool, account_id, session_id))) {
      throw notFound('sign-in');
    }
    return null;
  };
