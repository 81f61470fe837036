import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { sessionStanding } from './store/sessions.ts';

/** Internal: whether the sign-in behind an access token has not ended, and how the account stands. */
export const findSession =
  (deps: Deps): Handler<typeof identity.internal.findSession> =>
  ({ session_id, account_id }) =>
    sessionStanding(deps.pool, account_id, session_id);
