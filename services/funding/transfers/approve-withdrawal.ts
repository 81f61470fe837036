import type { funding } from '../../../shared/contract/funding.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { clientOfCall } from '../../../shared/lib/call-client.ts';
import { requireNotClosed, requirePending } from './model/pending.ts';
import { type PrepareDeps, prepareWithdrawal } from './prepare-transfer.ts';
import { getWithdrawal, recordApprover } from './store/withdrawals.ts';
import { type SubmitTransferDeps, submitTransfer } from './submit-transfer.ts';
import { showWithdrawal } from './view.ts';

/**
 * POST /v1/withdrawals/:withdrawal_id/approve: submits the signed transaction, or prepares another.
 */
export const approveWithdrawal =
  (deps: SubmitTransferDeps & PrepareDeps): Handler<typeof funding.operations.approveWithdrawal> =>
  async ({ withdrawal_id, transaction }, { account_id }) => {
    const read = () => getWithdrawal(deps.pool, account_id, withdrawal_id);
    if (transaction !== undefined) {
      requireNotClosed('withdrawal', await read());
      // The owner hears of it with the first progress, which shows that it was accepted.
      await recordApprover(deps.pool, withdrawal_id, clientOfCall());
      return showWithdrawal(
        await submitTransfer(deps, 'withdrawal', { id: withdrawal_id, transaction, read }),
      );
    }
    const row = await read();
    requirePending('withdrawal', row);
    const { destination_token_account: _unchanged, ...prepared } = await prepareWithdrawal(deps, row);
    return { ...showWithdrawal(row), ...prepared };
  };
