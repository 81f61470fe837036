import { ServiceError } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { newId } from '../../../shared/lib/id.ts';
import type { Logger } from '../../../shared/lib/logger.ts';
import { insertNotice } from '../mails/store.ts';
import { issueSession, type SessionIssuer } from '../sessions/issue-session.ts';
import { insertSession } from '../sessions/store/sessions.ts';
import { consumeClientChallenge } from './challenge.ts';
import { findPasskey, recordPasskeyUse } from './store/passkeys.ts';
import { type RelyingParty, userHandle, verifyAssertion } from './webauthn.ts';

/**
 * One message for an unknown passkey, a used challenge, a wrong origin and the rest, so that a
 * caller cannot tell them apart.
 */
const refuse = () => new ServiceError('unauthorized', 'the passkey did not sign you in; begin again');

/** POST /v1/auth/passkey/login/verify. */
export const passkeyLoginVerify =
  (
    deps: { pool: Pool; logger: Logger; rp: RelyingParty; pokeMails: () => void } & SessionIssuer,
  ): Handler<typeof identity.operations.passkeyLoginVerify> =>
  async ({ response }) => {
    const challenge = await consumeClientChallenge(deps, 'login', null, response.response.clientDataJSON);
    if (challenge === null) throw refuse();
    const passkey = await findPasskey(deps.pool, response.id);
    if (passkey === null) throw refuse();
    const { account_id, passkey_id } = passkey;

    const result = await verifyAssertion(deps, response, challenge, passkey);
    // The user handle of a discoverable credential must be that of its account in this environment.
    const expectedHandle = userHandle(deps.environment, account_id).toString('base64url');
    if ('refused' in result || response.response.userHandle !== expectedHandle) {
      const reason = 'refused' in result ? result.refused : 'the user handle is of another account';
      deps.logger.info({ passkey_id, reason }, 'refused a sign-in with a passkey');
      throw refuse();
    }
    const session = await deps.pool.transaction(async (tx) => {
      const use = { passkey_id, counter: result.counter, backed_up: result.backedUp };
      if (await recordPasskeyUse(tx, use)) {
        return insertSession(tx, { session_id: newId('ses'), account_id, amr: ['passkey'] });
      }
      const details = { label: passkey.label, at: isoTime(deps.clock()) };
      await insertNotice(tx, { account_id, kind: 'passkey_copied', details, always: true });
      return null;
    });
    if (session !== null) return issueSession(deps, session);
    deps.logger.warn(
      { passkey_id },
      'refused a sign-in because the counter of the passkey went back, and notified the owner',
    );
    deps.pokeMails();
    throw refuse();
  };
