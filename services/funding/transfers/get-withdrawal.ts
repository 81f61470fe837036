import type { funding } from '../../../shared/contract/funding.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { showWithdrawal } from './view.ts';
import { ownWithdrawal } from './withdrawals.ts';

/** GET /v1/withdrawals/:withdrawal_id. */
export const getWithdrawal =
  (deps: Deps): Handler<typeof funding.operations.getWithdrawal> =>
  async ({ withdrawal_id }, { account_id }) =>
    showWithdrawal(await ownWithdrawal(deps, account_id, withdrawal_id));
