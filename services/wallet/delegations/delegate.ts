import { conflict } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { wallet } from '../../../shared/contract/wallet.ts';
import { getWallet } from '../wallets/store.ts';
import { type PrepareDelegationDeps, prepareDelegation } from './prepare-delegation.ts';
import { findLatestPreparation } from './store/preparations.ts';
import { type SubmitDelegationDeps, submitDelegation } from './submit-delegation.ts';

/**
 * POST /v1/wallets/:wallet_id/delegate: submits the signed transaction, or prepares another with
 * the latest allowance.
 */
export const delegate =
  (deps: SubmitDelegationDeps & PrepareDelegationDeps): Handler<typeof wallet.operations.delegate> =>
  async ({ wallet_id, transaction }, { account_id }) => {
    const row = await getWallet(deps.pool, account_id, wallet_id);
    if (transaction !== undefined) return submitDelegation(deps, row, 'approve', transaction);
    const latest = await findLatestPreparation(deps.pool, wallet_id, 'approve');
    const allowance = latest?.allowance ?? null;
    if (allowance === null)
      throw conflict('the wallet has no prepared spending limit: call onboarding first');
    return prepareDelegation(deps, row, allowance);
  };
