import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { insertChallenge } from './store/passkey_challenges.ts';
import { loginOptions, type RelyingParty } from './webauthn.ts';

/**
 * POST /v1/auth/passkey/login/options. The request names no account, so the answer discloses
 * nothing about accounts.
 */
export const passkeyLoginOptions =
  (deps: { pool: Pool; rp: RelyingParty }): Handler<typeof identity.operations.passkeyLoginOptions> =>
  async () => {
    const options = await loginOptions(deps);
    await insertChallenge(deps.pool, { challenge: options.challenge, ceremony: 'login', session_id: null });
    return options;
  };
