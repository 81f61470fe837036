import { conflict } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { newId } from '../../../shared/lib/id.ts';
import { ensureAccount } from '../accounts/store.ts';
import type { Deps } from '../deps.ts';
import { normaliseEmail } from './model/email.ts';
import { isSameBrowser, linkIsGone } from './model/login-link.ts';
import { tokenHash } from './model/tokens.ts';
import { type LoginLink, useLoginLink } from './store/login_links.ts';
import { insertSession } from './store/sessions.ts';
import { showSession } from './view.ts';

type Input = Parameters<Handler<typeof identity.operations.verifyMagicLink>>[0];

/**
 * Whether a page may use the link. A link that another browser asked for may be a stranger's, whose account the person
 * would then take for his own: he has to have confirmed it.
 */
const mayUse = (link: LoginLink, { refresh_in, browser_nonce, email }: Input): boolean =>
  refresh_in !== 'cookie' ||
  isSameBrowser(link, browser_nonce) ||
  (email !== undefined && normaliseEmail(email) === link.email);

/** POST /v1/auth/magic-link/verify: uses the link, creates the account at first sign-in and opens a session. */
export const verifyMagicLink =
  (deps: Deps): Handler<typeof identity.operations.verifyMagicLink> =>
  async (input) => {
    const session = await deps.pool.transaction(async (tx) => {
      const link = await useLoginLink(tx, tokenHash(input.token));
      if (link === null) throw linkIsGone();
      // Thrown, it undoes the use: the link stays good for who confirms.
      if (!mayUse(link, input))
        throw conflict(
          'the sign-in link was asked for in another browser; name the email that the person has confirmed',
        );
      const account_id = await ensureAccount(tx, link.email, newId('acct'));
      return insertSession(tx, { session_id: newId('ses'), account_id, amr: ['email'] });
    });
    return showSession(deps, session);
  };
