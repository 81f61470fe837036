import { invalid } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Environment } from '../../../shared/contract/primitives.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { newId } from '../../../shared/lib/id.ts';
import { insertSignInMail } from '../mails/store.ts';
import { normaliseEmail } from '../sessions/model/email.ts';
import { loginToken, tokenHash } from '../sessions/model/tokens.ts';
import { insertLoginLink } from '../sessions/store/login_links.ts';

/** What sends a sign-in link. */
export type LinkRequester = {
  pool: Pool;
  environment: Environment;
  identitySecrets: readonly Buffer[];
  sendMailsNow: () => void;
};

/**
 * POST /v1/auth/magic-link. The handler reads no account and does not wait for the mail server, so
 * the answer and its duration are the same for known and unknown addresses.
 */
export const requestMagicLink =
  (deps: LinkRequester): Handler<typeof identity.operations.requestMagicLink> =>
  async (input) => {
    const email = normaliseEmail(input.email);
    if (email === null) throw invalid('email', 'must be an e-mail address that we can send to');
    const linkId = newId('link');
    const token = loginToken(deps.identitySecrets[0]!, deps.environment, linkId);
    await deps.pool.transaction(async (tx) => {
      const browser_hash = input.browser_nonce === undefined ? null : tokenHash(input.browser_nonce);
      const continue_to = input.continue_to ?? null;
      const token_hash = tokenHash(token);
      await insertLoginLink(tx, { email, link_id: linkId, token_hash, browser_hash, continue_to });
      await insertSignInMail(tx, { to_address: email, link_id: linkId });
    });
    deps.sendMailsNow();
    return { status: 'sent' };
  };
