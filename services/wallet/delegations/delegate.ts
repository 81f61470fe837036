import { conflict } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { wallet } from '../../../shared/contract/wallet.ts';
import type { Deps } from '../deps.ts';
import { ownWallet } from '../wallets/view.ts';
import { prepare, submitSigned } from './prepared.ts';
import { latestPreparation } from './store/preparations.ts';

/** POST /v1/wallets/:wallet_id/delegate: submits, or prepares afresh with the allowance last asked for. */
export const delegate =
  (deps: Deps): Handler<typeof wallet.operations.delegate> =>
  async ({ wallet_id, transaction }, caller) => {
    const row = await ownWallet(deps, caller.account_id, wallet_id);
    if (transaction !== undefined) return submitSigned(deps, row, 'approve', transaction);
    const allowance = (await latestPreparation(deps.pool, wallet_id, 'approve'))?.allowance ?? null;
    if (allowance === null) {
      throw conflict('no allowance was asked for yet: call onboarding first');
    }
    return prepare(deps, row, allowance);
  };
