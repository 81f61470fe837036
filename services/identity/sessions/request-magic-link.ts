import { invalid } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { newId } from '../../../shared/lib/id.ts';
import type { Deps } from '../deps.ts';
import { insertSignInMail } from '../mails/store.ts';
import { normaliseEmail } from './model/email.ts';
import { loginToken, tokenHash } from './model/tokens.ts';
import { putLoginLink } from './store/login_links.ts';

/**
 * POST /v1/auth/magic-link. Looks at no account and waits for no mail server, so the answer and its time are the
 * same for known and unknown addresses.
 */
export const requestMagicLink =
  (deps: Deps): Handler<typeof identity.operations.requestMagicLink> =>
  async (input) => {
    const email = normaliseEmail(input.email);
    if (email === null) {
      const message = 'must be an e-mail address that we can send to';
      throw invalid('email', message);
    }
    const linkId = newId('link');
    const token = loginToken(deps.identitySecret, deps.environment, linkId);
    await deps.pool.transaction(async (tx) => {
      const browser_hash = input.browser_nonce === undefined ? null : tokenHash(input.browser_nonce);
      await putLoginLink(tx, { email, link_id: linkId, token_hash: tokenHash(token), browser_hash });
      await insertSignInMail(tx, { to_address: email, link_id: linkId });
    });
    deps.pokeMails();
    return { status: 'sent' };
  };
