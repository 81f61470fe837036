import { ServiceError } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { newId } from '../../../shared/lib/id.ts';
import type { Deps } from '../deps.ts';
import { insertNotice } from '../mails/store.ts';
import { insertSession } from '../sessions/store/sessions.ts';
import { showSession } from '../sessions/view.ts';
import { findPasskey, usePasskey } from './store/passkeys.ts';
import { takeChallenge, userHandle, verifyAssertion } from './webauthn.ts';

/** One message for unknown passkey, used challenge, wrong origin and the rest: which it was is nobody's business. */
const refuse = () => new ServiceError('unauthorized', 'the passkey did not sign you in; begin again');

/** POST /v1/auth/passkey/login/verify. */
export const passkeyLoginVerify =
  (deps: Deps): Handler<typeof identity.operations.passkeyLoginVerify> =>
  async ({ response }) => {
    const challenge = await takeChallenge(deps, 'login', null, response.response.clientDataJSON);
    if (challenge === null) throw refuse();
    const passkey = await findPasskey(deps.pool, response.id);
    if (passkey === null) throw refuse();
    const { account_id, passkey_id } = passkey;

    const result = await verifyAssertion(deps, response, challenge, passkey);
    // A discoverable credential says whose it is; it has to be the account that we know it of, in this environment.
    const owner = userHandle(deps.environment, account_id).toString('base64url');
    if ('refused' in result || response.response.userHandle !== owner) {
      const reason = 'refused' in result ? result.refused : 'another user handle';
      deps.logger.info({ passkey_id, reason }, 'passkey sign-in refused');
      throw refuse();
    }
    const session = await deps.pool.transaction(async (tx) => {
      const use = { passkey_id, counter: result.counter, backed_up: result.backedUp };
      if (await usePasskey(tx, use)) {
        return insertSession(tx, { session_id: newId('ses'), account_id, amr: ['passkey'] });
      }
      const at = isoTime(deps.clock());
      const details = { label: passkey.label, at };
      await insertNotice(tx, { account_id, kind: 'passkey_copied', details, always: true });
      return null;
    });
    if (session !== null) return showSession(deps, session);
    deps.logger.warn({ passkey_id }, 'passkey counter went back: sign-in refused, owner told');
    deps.pokeMails();
    throw refuse();
  };
