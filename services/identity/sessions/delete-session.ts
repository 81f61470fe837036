import { notFound } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { hasSession, revokeSessions } from './store/sessions.ts';

/** DELETE /v1/accounts/me/sessions/:session_id. One that has ended already stays ended. */
export const deleteSession =
  (deps: Deps): Handler<typeof identity.operations.deleteSession> =>
  async ({ session_id }, { account_id }) => {
    const outbox = await deps.pool.transaction((tx) => revokeSessions(tx, account_id, [session_id]));
    deps.relay.dispatch(outbox);
    if (outbox.length === 0 && !(await hasSession(deps.pool, account_id, session_id))) {
      throw notFound('sign-in');
    }
    return null;
  };
