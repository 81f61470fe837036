import { conflict, type MoneyMoved } from '../../../shared/contract/errors.ts';
import type { funding } from '../../../shared/contract/funding.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { formatMicro } from '../../../shared/lib/micro.ts';
import type { Deps } from '../deps.ts';
import { ownRefund, prepareRefund, reserve, vendorOf } from './refunds.ts';
import type { RefundRow } from './store/refunds.ts';
import { requireWaiting, submit } from './transfer.ts';
import { showRefund } from './view.ts';

/** A payment that was forked away since is not given back before it stands again. */
const requirePaid = async (deps: Deps, row: RefundRow, money_moved: MoneyMoved): Promise<void> => {
  const { refund_id, settlement_id, vendor_account_id: account_id, service_id } = row;
  const amount = formatMicro(row.amount);
  const { paid } = await reserve(deps, { refund_id, settlement_id, amount }, { account_id, service_id });
  if (paid) return;
  throw conflict('the payment that is to be refunded does not stand on the chain now', {
    money_moved,
    safe_action: 'retry_same_attempt',
  });
};

/** POST /v1/refunds/:refund_id/submit: submits, or prepares afresh. */
export const submitRefund =
  (deps: Deps): Handler<typeof funding.operations.submitRefund> =>
  async ({ refund_id, transaction }, caller) => {
    const read = () => ownRefund(deps, vendorOf(caller), refund_id);
    const row = await read();
    if (transaction !== undefined) {
      // The record may not have heard yet that these very bytes were submitted before.
      if (row.status === 'pending_signature' && !row.elapsed) await requirePaid(deps, row, 'unknown');
      return showRefund(await submit(deps, 'refund', { id: refund_id, transaction, read }));
    }
    requireWaiting('refund', row);
    await requirePaid(deps, row, 'no');
    const { destination_token_account: _same, ...prepared } = await prepareRefund(deps, {
      ...row,
      amount: formatMicro(row.amount),
      accepted_at: isoTime(row.created_at),
    });
    return { ...showRefund(row), ...prepared };
  };
