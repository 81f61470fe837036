import type { funding } from '../../../shared/contract/funding.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { type CancelTransferDeps, cancelTransfer } from './cancel-transfer.ts';
import { getWithdrawal } from './store/withdrawals.ts';
import { showWithdrawal } from './view.ts';

/** POST /v1/withdrawals/:withdrawal_id/cancel. */
export const cancelWithdrawal =
  (deps: CancelTransferDeps): Handler<typeof funding.operations.cancelWithdrawal> =>
  async ({ withdrawal_id: id }, { account_id }) => {
    const transfer = await getWithdrawal(deps.pool, account_id, id);
    await cancelTransfer(deps, 'withdrawal', { id, transfer });
    return showWithdrawal(await getWithdrawal(deps.pool, account_id, id));
  };
