import { conflict } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Environment } from '../../../shared/contract/primitives.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { getAccountRow } from '../accounts/store.ts';
import { requireEnvironment } from './require-environment.ts';
import { insertChallenge } from './store/passkey_challenges.ts';
import { listAllPasskeyRows, MAX_PASSKEYS } from './store/passkeys.ts';
import { type RelyingParty, registrationOptions } from './webauthn.ts';

/** POST /v1/auth/passkey/register/options. */
export const passkeyRegisterOptions =
  (deps: {
    pool: Pool;
    environment: Environment;
    rp: RelyingParty;
  }): Handler<typeof identity.operations.passkeyRegisterOptions> =>
  async ({ environment }, { account_id, session_id }) => {
    requireEnvironment(deps, environment);
    const existing = await listAllPasskeyRows(deps.pool, account_id);
    if (existing.length >= MAX_PASSKEYS) {
      throw conflict(`the account has ${MAX_PASSKEYS} passkeys; remove one first`);
    }
    const options = await registrationOptions(deps, await getAccountRow(deps.pool, account_id), existing);
    await insertChallenge(deps.pool, { challenge: options.challenge, ceremony: 'register', session_id });
    return options;
  };
