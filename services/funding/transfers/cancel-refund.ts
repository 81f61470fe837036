import type { funding } from '../../../shared/contract/funding.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { ownRefund, release, vendorOf } from './refunds.ts';
import { cancel } from './transfer.ts';
import { showRefund } from './view.ts';

/** POST /v1/refunds/:refund_id/cancel. */
export const cancelRefund =
  (deps: Deps): Handler<typeof funding.operations.cancelRefund> =>
  async ({ refund_id }, caller) => {
    const transfer = await ownRefund(deps, vendorOf(caller), refund_id);
    await cancel(deps, 'refund', { id: refund_id, transfer });
    const row = await ownRefund(deps, vendorOf(caller), refund_id);
    if (row.status === 'cancelled') await release(deps, refund_id);
    return showRefund(row);
  };
