import { invalid, notFound } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { consumeClientChallenge } from '../passkeys/challenge.ts';
import { type CheckDeps, COUNTER_WENT_BACK, checkAssertion, recordUse } from '../passkeys/check-assertion.ts';
import type { Peers } from '../peers.ts';
import { approvalChallenge } from './challenge.ts';

/**
 * One message for an unknown passkey, one of another account, a used challenge and the rest. The
 * sign-in stays valid, so the code is not `unauthorized`.
 */
const refuse = () => invalid('response', 'not an answer to the open approval of this payment; begin again');

/**
 * POST /v1/approvals/:approval_id/approve. The challenge is computed again from the approval as it
 * is now, so that an answer to another one approves nothing.
 */
export const approve =
  (
    deps: CheckDeps & Pick<Peers, 'findApproval' | 'recordApproval'>,
  ): Handler<typeof identity.operations.approve> =>
  async ({ approval_id, response }, { account_id, session_id }) => {
    const approval = await deps.findApproval(account_id, approval_id);
    if (approval === null) throw notFound('approval');
    const { clientDataJSON } = response.response;
    const challenge = await consumeClientChallenge(deps, 'approve', session_id, clientDataJSON);
    if (challenge !== approvalChallenge(deps.environment, approval)) throw refuse();
    const signed = await checkAssertion(deps, response, { challenge, isHandleOptional: true });
    if (signed === null || signed.passkey.account_id !== account_id) throw refuse();
    const isRecorded = await recordUse(deps, signed, async () => true);
    if (isRecorded === null) throw invalid('response', COUNTER_WENT_BACK);
    return deps.recordApproval({ account_id, approval_id, passkey_id: signed.passkey.passkey_id });
  };
