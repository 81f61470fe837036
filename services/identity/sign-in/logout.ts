import type { identity } from '../../../shared/contract/identity.ts';
import type { Environment } from '../../../shared/contract/primitives.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Outbox } from '../../../shared/events/relay.ts';
import { openRefreshToken } from '../sessions/model/tokens.ts';
import { revokeSessions } from '../sessions/store/sessions.ts';

/**
 * POST /v1/auth/logout: revokes the session of the access token. It also revokes the session of the
 * refresh token when that is another one of the same account: a client that signed in twice may
 * hold a mixed pair. An invalid refresh token revokes nothing. The delegates of a device stay: a
 * program signs out when its work is done, and they are listed with its sign-in until their end.
 */
export const logout =
  (deps: {
    pool: Pool;
    relay: Outbox;
    environment: Environment;
    identitySecrets: readonly Buffer[];
  }): Handler<typeof identity.operations.logout> =>
  async ({ refresh_token }, caller) => {
    const opened =
      refresh_token === undefined
        ? null
        : openRefreshToken(deps.identitySecrets, deps.environment, refresh_token);
    const sessionIds = opened === null ? [caller.session_id] : [caller.session_id, opened.sessionId];
    const outbox = await deps.pool.transaction((tx) => revokeSessions(tx, caller.account_id, sessionIds));
    deps.relay.dispatch(outbox);
    return null;
  };
