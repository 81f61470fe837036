import { ServiceError } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { newId } from '../../../shared/lib/id.ts';
import { insertSecurityEvent } from '../security/store.ts';
import { issueSession, type SessionIssuer } from '../sessions/issue-session.ts';
import { insertSession } from '../sessions/store/sessions.ts';
import { consumeClientChallenge } from './challenge.ts';
import { type CheckDeps, COUNTER_WENT_BACK, checkAssertion, recordUse } from './check-assertion.ts';

/**
 * One message for an unknown passkey, a used challenge, a wrong origin and the rest, so that a
 * caller cannot tell them apart.
 */
const refuse = () => new ServiceError('unauthorized', 'the passkey did not sign you in; begin again');

/** POST /v1/auth/passkey/login/verify. */
export const passkeyLoginVerify =
  (deps: CheckDeps & SessionIssuer): Handler<typeof identity.operations.passkeyLoginVerify> =>
  async ({ response }) => {
    const challenge = await consumeClientChallenge(deps, 'login', null, response.response.clientDataJSON);
    if (challenge === null) throw refuse();
    const signed = await checkAssertion(deps, response, { challenge });
    if (signed === null) throw refuse();
    const { account_id } = signed.passkey;
    const session = await recordUse(deps, signed, async (tx) => {
      await insertSecurityEvent(tx, { account_id, kind: 'signed_in', details: { method: 'passkey' } });
      return insertSession(tx, { session_id: newId('ses'), account_id, amr: ['passkey'] });
    });
    if (session === null) throw new ServiceError('unauthorized', COUNTER_WENT_BACK);
    return issueSession(deps, session);
  };
