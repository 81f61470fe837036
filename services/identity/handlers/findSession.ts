import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { isSessionOpen } from '../store/sessions.ts';

/** Internal: whether the sign-in behind an access token has not ended. */
export const findSession =
  (deps: Deps): Handler<typeof identity.internal.findSession> =>
  async ({ session_id, account_id }) => ({ open: await isSessionOpen(deps.pool, account_id, session_id) });
