import type { funding } from '../../../shared/contract/funding.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { cancel } from './transfer.ts';
import { showWithdrawal } from './view.ts';
import { ownWithdrawal } from './withdrawals.ts';

/** POST /v1/withdrawals/:withdrawal_id/cancel. */
export const cancelWithdrawal =
  (deps: Deps): Handler<typeof funding.operations.cancelWithdrawal> =>
  async ({ withdrawal_id }, { account_id }) => {
    const transfer = await ownWithdrawal(deps, account_id, withdrawal_id);
    await cancel(deps, 'withdrawal', { id: withdrawal_id, transfer });
    return showWithdrawal(await ownWithdrawal(deps, account_id, withdrawal_id));
  };
