import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { openRefreshToken } from './model/tokens.ts';
import { revokeSessions } from './store/sessions.ts';

/**
 * POST /v1/auth/logout: ends the sign-in of the access token, and that of the refresh token where it is another one
 * of the same account (a client that signed in twice and holds a mixed pair). A refresh token that is not valid has
 * nothing to end.
 */
export const logout =
  (deps: Deps): Handler<typeof identity.operations.logout> =>
  async ({ refresh_token }, caller) => {
    const opened =
      refresh_token === undefined
        ? null
        : openRefreshToken(deps.identitySecret, deps.environment, refresh_token);
    const ended = opened === null ? [caller.session_id] : [caller.session_id, opened.sessionId];
    const outbox = await deps.pool.transaction((tx) => revokeSessions(tx, caller.account_id, ended));
    deps.relay.dispatch(outbox);
    return null;
  };
