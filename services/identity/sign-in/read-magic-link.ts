import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { invalidLink, isSameBrowser } from '../sessions/model/login-link.ts';
import { tokenHash } from '../sessions/model/tokens.ts';
import { findLoginLink } from '../sessions/store/login_links.ts';

/**
 * POST /v1/auth/magic-link/read: the account that the link signs in to. Whoever has the token could
 * sign in and read the address, so the answer discloses nothing more.
 */
export const readMagicLink =
  ({ pool }: { pool: Pool }): Handler<typeof identity.operations.readMagicLink> =>
  async ({ token, browser_nonce }) => {
    const link = await findLoginLink(pool, tokenHash(token));
    if (link === null) throw invalidLink();
    const { email, continue_to } = link;
    return { email, same_browser: isSameBrowser(link, browser_nonce), continue_to };
  };
