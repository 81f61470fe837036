import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { readForCaller } from '../chain/read-for-caller.ts';
import type { TokenAccounts } from '../chain/token-accounts.ts';
import { type AcceptDeps, acceptJob } from '../execution/accept-job.ts';
import { payoutAccountIntentId } from '../ledger/intent-id.ts';

/**
 * Creates the token account of a payout address, once for each account and address. Our fee payer
 * pays the rent here, and never in a transaction of another client. A token account that its owner
 * closed is not created again.
 */
export const createPayoutAccount =
  (
    deps: AcceptDeps & { tokenAccounts: TokenAccounts },
  ): Handler<typeof chainSubmitter.internal.createPayoutAccount> =>
  async ({ account_id, owner }) => {
    const state = await readForCaller(deps.tokenAccounts.getState(owner));
    if (state === 'missing')
      await acceptJob(deps, {
        intent_id: payoutAccountIntentId(account_id, owner),
        kind: 'createTokenAccount',
        object_id: owner,
        request: { wallet_id: null, account_id, owner },
      });
    return { exists: state === 'ready' };
  };
