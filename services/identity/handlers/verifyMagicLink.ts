import { ServiceError } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { newId } from '../../../shared/lib/id.ts';
import type { Deps } from '../deps.ts';
import { tokenHash } from '../domain/tokens.ts';
import { ensureAccount } from '../store/accounts.ts';
import { useLoginLink } from '../store/login_links.ts';
import { insertSession } from '../store/sessions.ts';
import { showSession } from '../view.ts';

/** POST /v1/auth/magic-link/verify: uses the link, creates the account at first sign-in and opens a session. */
export const verifyMagicLink =
  (deps: Deps): Handler<typeof identity.operations.verifyMagicLink> =>
  async ({ token }) => {
    const session = await deps.pool.transaction(async (tx) => {
      const link = await useLoginLink(tx, tokenHash(token));
      if (link === null) {
        // One message for unknown, used, expired and replaced: which it was is nobody's business.
        throw new ServiceError('unauthorized', 'the sign-in link is not valid any more; ask for a new one');
      }
      const account_id = await ensureAccount(tx, link.email, newId('acct'));
      return insertSession(tx, { session_id: newId('ses'), account_id, amr: ['email'] });
    });
    return showSession(deps, session);
  };
