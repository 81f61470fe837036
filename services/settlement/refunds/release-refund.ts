import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Deps } from '../deps.ts';
import { releaseReservation } from './store.ts';

/** int.settlement.releaseRefund. */
export const releaseRefund =
  ({ pool }: Pick<Deps, 'pool'>): Handler<typeof settlement.internal.releaseRefund> =>
  async ({ refund_id }) => {
    await releaseReservation(pool, refund_id);
    return {};
  };
