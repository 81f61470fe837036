import { conflict, invalid } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Environment } from '../../../shared/contract/primitives.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { newId } from '../../../shared/lib/id.ts';
import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import { insertNotice } from '../mails/store.ts';
import { consumeClientChallenge } from './challenge.ts';
import { requireEnvironment } from './require-environment.ts';
import { insertPasskey } from './store/passkeys.ts';
import { showPasskey } from './view.ts';
import { type RelyingParty, UNVERIFIED, verifyRegistration } from './webauthn.ts';

const DEFAULT_LABEL = 'Passkey';
const refuse = () => invalid('response', 'not an answer to an open registration; begin again');
const refuseUnverified = () =>
  invalid(
    'response',
    'the authenticator did not check who uses it; set up its PIN, fingerprint or face, or use another one, and begin again',
  );

/** POST /v1/auth/passkey/register/verify. */
export const passkeyRegisterVerify =
  (deps: {
    pool: Pool;
    logger: Logger;
    environment: Environment;
    rp: RelyingParty;
    sendMailsNow: () => void;
  }): Handler<typeof identity.operations.passkeyRegisterVerify> =>
  async ({ environment, response, label = DEFAULT_LABEL }, { account_id, session_id }) => {
    requireEnvironment(deps, environment);
    const { clientDataJSON } = response.response;
    const challenge = await consumeClientChallenge(deps, 'register', session_id, clientDataJSON);
    if (challenge === null) throw refuse();
    const result = await verifyRegistration(deps, response, challenge);
    if ('refused' in result) {
      deps.logger.info({ account_id, reason: result.refused }, 'refused the registration of a passkey');
      throw result.refused === UNVERIFIED ? refuseUnverified() : refuse();
    }
    const row = await deps.pool.transaction(async (tx) => {
      const passkey = await insertPasskey(tx, {
        passkey_id: newId('pk'),
        account_id,
        label,
        ...result.credential,
      });
      if (passkey === null) {
        throw conflict('this passkey is registered already, or the account has too many');
      }
      const at = isoTime(passkey.created_at);
      await insertNotice(tx, { account_id, kind: 'passkey_added', details: { label: passkey.label, at } });
      return passkey;
    });
    deps.sendMailsNow();
    return showPasskey(row);
  };
