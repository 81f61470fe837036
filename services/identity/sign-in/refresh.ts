import { ServiceError } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Outbox } from '../../../shared/events/relay.ts';
import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import { insertNotice } from '../mails/store.ts';
import { issueSession, type SessionIssuer } from '../sessions/issue-session.ts';
import { refreshOutcome } from '../sessions/model/session.ts';
import { openRefreshToken } from '../sessions/model/tokens.ts';
import { findSessionState, rotateSession } from '../sessions/store/sessions.ts';
import { endSessions } from './end-sessions.ts';

const refuse = () => new ServiceError('unauthorized', 'the sign-in has ended; sign in again');

/** POST /v1/auth/refresh. */
export const refresh =
  (
    deps: {
      pool: Pool;
      relay: Outbox;
      logger: Logger;
      sendMailsNow: () => void;
    } & SessionIssuer,
  ): Handler<typeof identity.operations.refresh> =>
  async (input) => {
    // When the body has no refresh token, the gateway adds the one of the cookie.
    const opened = openRefreshToken(deps.identitySecrets, deps.environment, input.refresh_token ?? '');
    if (opened === null) throw refuse();
    const { sessionId, generation } = opened;

    const rotated = await rotateSession(deps.pool, sessionId, generation);
    if (rotated !== null) return issueSession(deps, rotated);

    // The token is not the current one: it is older, or another call with it was faster.
    const state = await findSessionState(deps.pool, sessionId);
    if (state === null) throw refuse();
    const outcome = refreshOutcome(state, generation, state.now);
    if (outcome === 'repeat') return issueSession(deps, state);
    if (outcome === 'reuse') {
      const { account_id } = state;
      const outbox = await deps.pool.transaction(async (tx) => {
        const ended = await endSessions(tx, deps, account_id, [sessionId]);
        if (ended.length > 0) await insertNotice(tx, { account_id, kind: 'session_reused', details: {} });
        return ended;
      });
      deps.relay.dispatch(outbox);
      deps.sendMailsNow();
      deps.logger.warn(
        { session_id: sessionId, generation },
        'revoked a session because an old refresh token was used again',
      );
    }
    throw refuse();
  };
