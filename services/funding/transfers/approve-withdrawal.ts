import type { funding } from '../../../shared/contract/funding.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { requireWaiting, submit } from './transfer.ts';
import { showWithdrawal } from './view.ts';
import { ownWithdrawal, prepareWithdrawal } from './withdrawals.ts';

/** POST /v1/withdrawals/:withdrawal_id/approve: submits, or prepares afresh. */
export const approveWithdrawal =
  (deps: Deps): Handler<typeof funding.operations.approveWithdrawal> =>
  async ({ withdrawal_id, transaction }, { account_id }) => {
    const read = () => ownWithdrawal(deps, account_id, withdrawal_id);
    if (transaction !== undefined) {
      return showWithdrawal(await submit(deps, 'withdrawal', { id: withdrawal_id, transaction, read }));
    }
    const row = await read();
    requireWaiting('withdrawal', row);
    const { destination_token_account: _same, ...prepared } = await prepareWithdrawal(deps, row);
    return { ...showWithdrawal(row), ...prepared };
  };
