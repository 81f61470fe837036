import { conflict, type MoneyMoved } from '../../../shared/contract/errors.ts';
import type { funding } from '../../../shared/contract/index.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import type { Peers } from '../peers.ts';
import { requirePending } from './model/pending.ts';
import { type PrepareDeps, prepareRefund } from './prepare-transfer.ts';
import { vendorScope } from './refund-scope.ts';
import { getRefund, type RefundRow } from './store/refunds.ts';
import { type SubmitTransferDeps, submitTransfer } from './submit-transfer.ts';
import { showRefund } from './view.ts';

type Deps = SubmitTransferDeps & PrepareDeps & Pick<Peers, 'reserveRefund'>;

/**
 * A payment that a fork has removed since is not refunded before it is on the chain again.
 * Reserving is repeatable, and its answer shows whether the payment is on the chain now.
 */
const requirePaid = async (
  { reserveRefund }: Deps,
  { refund_id, settlement_id, vendor_account_id, service_id, amount }: RefundRow,
  money_moved: MoneyMoved,
): Promise<void> => {
  const { paid } = await reserveRefund({
    refund_id,
    settlement_id,
    amount: formatMicro(amount),
    account_id: vendor_account_id,
    service_id,
  });
  if (paid) return;
  throw conflict('the payment to be refunded is not on the chain now: repeat the call later', {
    money_moved,
    safe_action: 'retry_same_attempt',
  });
};

/** POST /v1/refunds/:refund_id/submit: submits the signed transaction, or prepares another. */
export const submitRefund =
  (deps: Deps): Handler<typeof funding.operations.submitRefund> =>
  async ({ refund_id, transaction }, caller) => {
    const read = () => getRefund(deps.pool, vendorScope(caller), refund_id);
    const row = await read();
    if (transaction !== undefined) {
      // These bytes may have been submitted before, without their event recorded yet.
      if (row.status === 'pending_signature' && !row.elapsed) await requirePaid(deps, row, 'unknown');
      return showRefund(await submitTransfer(deps, 'refund', { id: refund_id, transaction, read }));
    }
    requirePending('refund', row);
    await requirePaid(deps, row, 'no');
    const { destination_token_account: _unchanged, ...prepared } = await prepareRefund(deps, row);
    return { ...showRefund(row), ...prepared };
  };
