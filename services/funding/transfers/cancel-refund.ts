import type { funding } from '../../../shared/contract/funding.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { type CancelTransferDeps, cancelTransfer } from './cancel-transfer.ts';
import { vendorScope } from './refund-scope.ts';
import { type ReleaseReservationDeps, releaseReservation } from './release-reservation.ts';
import { getRefund } from './store/refunds.ts';
import { showRefund } from './view.ts';

/** POST /v1/refunds/:refund_id/cancel. */
export const cancelRefund =
  (deps: CancelTransferDeps & ReleaseReservationDeps): Handler<typeof funding.operations.cancelRefund> =>
  async ({ refund_id: id }, caller) => {
    const scope = vendorScope(caller);
    const transfer = await getRefund(deps.pool, scope, id);
    await cancelTransfer(deps, 'refund', { id, transfer });
    const row = await getRefund(deps.pool, scope, id);
    if (row.status === 'cancelled') await releaseReservation(deps, id);
    return showRefund(row);
  };
