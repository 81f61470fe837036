import { ServiceError } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { refreshOutcome } from './model/session.ts';
import { openRefreshToken } from './model/tokens.ts';
import { findSessionState, revokeSessions, rotateSession } from './store/sessions.ts';
import { showSession } from './view.ts';

const refuse = () => new ServiceError('unauthorized', 'the sign-in has ended; sign in again');

/** POST /v1/auth/refresh. */
export const refresh =
  (deps: Deps): Handler<typeof identity.operations.refresh> =>
  async (input) => {
    // Without one in the body the gateway puts that of the cookie here.
    const opened = openRefreshToken(deps.identitySecret, deps.environment, input.refresh_token ?? '');
    if (opened === null) throw refuse();
    const { sessionId, generation } = opened;

    const rotated = await rotateSession(deps.pool, sessionId, generation);
    if (rotated !== null) return showSession(deps, rotated);

    // Not the current one any more, or another call with the same token was faster.
    const state = await findSessionState(deps.pool, sessionId);
    if (state === null) throw refuse();
    const outcome = refreshOutcome(state, generation, state.now);
    if (outcome === 'repeat') return showSession(deps, state);
    if (outcome === 'reuse') {
      const { account_id } = state;
      deps.relay.dispatch(await deps.pool.transaction((tx) => revokeSessions(tx, account_id, [sessionId])));
      deps.logger.warn({ session_id: sessionId, generation }, 'refresh token reused, sign-in ended');
    }
    throw refuse();
  };
