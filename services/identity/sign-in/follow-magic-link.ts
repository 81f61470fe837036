import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { tokenHash } from '../sessions/model/tokens.ts';
import { findNewestLinkOf } from '../sessions/store/login_links.ts';

/**
 * POST /v1/auth/magic-link/follow. The nonce of the cookie is a secret of the browser, and the
 * answer names no account.
 */
export const followMagicLink =
  ({ pool }: { pool: Pool }): Handler<typeof identity.operations.followMagicLink> =>
  async ({ browser_nonce }) => {
    if (browser_nonce === undefined) return { status: 'none' };
    const browser = tokenHash(browser_nonce);
    const link = await findNewestLinkOf(pool, browser);
    if (link === null) return { status: 'none' };
    if (!link.is_used) return { status: 'waiting' };
    return { status: link.used_by_hash === browser ? 'used_here' : 'used_elsewhere' };
  };
