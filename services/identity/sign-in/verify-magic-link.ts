import { conflict } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { newId } from '../../../shared/lib/id.ts';
import { upsertAccount } from '../accounts/store.ts';
import { insertSecurityEvent } from '../security/store.ts';
import { issueSession, type SessionIssuer } from '../sessions/issue-session.ts';
import { normaliseEmail } from '../sessions/model/email.ts';
import { invalidLink, isSameBrowser } from '../sessions/model/login-link.ts';
import { tokenHash } from '../sessions/model/tokens.ts';
import { upsertKnownBrowser } from '../sessions/store/known_browsers.ts';
import { consumeLoginLink, type LoginLink } from '../sessions/store/login_links.ts';
import { insertSession } from '../sessions/store/sessions.ts';

type Input = Parameters<Handler<typeof identity.operations.verifyMagicLink>>[0];

/**
 * Whether a page may use the link. A link that another browser requested may belong to a stranger,
 * whose account the user would then take for their own. Such a link needs the user's confirmation.
 */
const mayUse = (link: LoginLink, { refresh_in, browser_nonce, email }: Input): boolean =>
  refresh_in !== 'cookie' ||
  isSameBrowser(link, browser_nonce) ||
  (email !== undefined && normaliseEmail(email) === link.email);

/**
 * POST /v1/auth/magic-link/verify: consumes the link, creates the account at the first sign-in and
 * opens a session.
 */
export const verifyMagicLink =
  (deps: { pool: Pool } & SessionIssuer): Handler<typeof identity.operations.verifyMagicLink> =>
  async (input) => {
    const session = await deps.pool.transaction(async (tx) => {
      const browser = input.browser_nonce === undefined ? null : tokenHash(input.browser_nonce);
      const link = await consumeLoginLink(tx, tokenHash(input.token), browser);
      if (link === null) throw invalidLink();
      // The error rolls the consumption back, so the link stays valid until the user confirms.
      if (!mayUse(link, input))
        throw conflict(
          'the sign-in link was requested in another browser; send the email that the user has confirmed',
        );
      const account_id = await upsertAccount(tx, link.email, newId('acct'));
      if (browser !== null) await upsertKnownBrowser(tx, link.email, browser);
      await insertSecurityEvent(tx, { account_id, kind: 'signed_in', details: { method: 'email' } });
      return insertSession(tx, { session_id: newId('ses'), account_id, amr: ['email'] });
    });
    return issueSession(deps, session);
  };
