import { conflict } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { readAccount } from '../accounts/store.ts';
import { type Deps, requireEnvironment } from '../deps.ts';
import { insertChallenge } from './store/passkey_challenges.ts';
import { listPasskeysOf, MAX_PASSKEYS } from './store/passkeys.ts';
import { registrationOptions } from './webauthn.ts';

/** POST /v1/auth/passkey/register/options. */
export const passkeyRegisterOptions =
  (deps: Deps): Handler<typeof identity.operations.passkeyRegisterOptions> =>
  async ({ environment }, { account_id, session_id }) => {
    requireEnvironment(deps, environment);
    const known = await listPasskeysOf(deps.pool, account_id);
    if (known.length >= MAX_PASSKEYS) {
      throw conflict(`the account has ${MAX_PASSKEYS} passkeys; remove one first`);
    }
    const options = await registrationOptions(deps, await readAccount(deps.pool, account_id), known);
    await insertChallenge(deps.pool, { challenge: options.challenge, ceremony: 'register', session_id });
    return options;
  };
