import type { Records } from '../../../shared/boot.ts';
import { conflict, notFound } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { upsertChallenge } from '../passkeys/store/passkey_challenges.ts';
import { listAllPasskeyRows } from '../passkeys/store/passkeys.ts';
import { assertionOptions } from '../passkeys/webauthn.ts';
import type { Peers } from '../peers.ts';
import type { Terms } from '../terms.ts';
import { approvalChallenge } from './challenge.ts';

/** Why an approval that does not wait cannot be approved. */
const DECIDED = {
  approved: 'the payment is approved already',
  denied: 'the payment was denied, so it cannot be approved; the delegate can ask again',
  expired: 'the approval has expired; the delegate can ask again with a new quote',
};

/** POST /v1/approvals/:approval_id/options. */
export const approvalOptions =
  (
    deps: Pick<Records, 'pool'> & Pick<Terms, 'environment' | 'rp'> & Pick<Peers, 'findApproval'>,
  ): Handler<typeof identity.operations.approvalOptions> =>
  async ({ approval_id }, { account_id, session_id }) => {
    const approval = await deps.findApproval(account_id, approval_id);
    if (approval === null) throw notFound('approval');
    if (approval.status !== 'awaiting_approval') throw conflict(DECIDED[approval.status]);
    const passkeys = await listAllPasskeyRows(deps.pool, account_id);
    if (passkeys.length === 0) {
      throw conflict('the account has no passkey to approve with; add one in the settings, then approve');
    }
    const challenge = approvalChallenge(deps.environment, approval);
    await upsertChallenge(deps.pool, { challenge, ceremony: 'approve', session_id });
    return assertionOptions(deps, challenge, passkeys);
  };
