import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { insertChallenge } from './store/passkey_challenges.ts';
import { loginOptions } from './webauthn.ts';

/** POST /v1/auth/passkey/login/options. Asks nobody who they are, so it tells nothing about accounts. */
export const passkeyLoginOptions =
  (deps: Deps): Handler<typeof identity.operations.passkeyLoginOptions> =>
  async () => {
    const options = await loginOptions(deps);
    await insertChallenge(deps.pool, { challenge: options.challenge, ceremony: 'login', session_id: null });
    return options;
  };
