import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { isSameBrowser, linkIsGone } from './model/login-link.ts';
import { tokenHash } from './model/tokens.ts';
import { findLoginLink } from './store/login_links.ts';

/**
 * POST /v1/auth/magic-link/read: whose account the link signs in to. Whoever has the token could sign in, so that the
 * answer tells him nothing that he could not have.
 */
export const readMagicLink =
  (deps: Deps): Handler<typeof identity.operations.readMagicLink> =>
  async ({ token, browser_nonce }) => {
    const link = await findLoginLink(deps.pool, tokenHash(token));
    if (link === null) throw linkIsGone();
    return { email: link.email, same_browser: isSameBrowser(link, browser_nonce) };
  };
