import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { normaliseEmail } from './model/email.ts';
import { tokenHash } from './model/tokens.ts';
import { isKnownBrowser as isKnown } from './store/known_browsers.ts';

/** Internal: whether a browser has signed in with an address. */
export const isKnownBrowser =
  ({ pool }: { pool: Pool }): Handler<typeof identity.internal.isKnownBrowser> =>
  async ({ email, browser_nonce }) => {
    const address = normaliseEmail(email);
    return { known: address !== null && (await isKnown(pool, address, tokenHash(browser_nonce))) };
  };
