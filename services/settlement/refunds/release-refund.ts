import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { releaseReservation } from './store.ts';

/** int.settlement.releaseRefund. */
export const releaseRefund =
  ({ pool }: { pool: Pool }): Handler<typeof settlement.internal.releaseRefund> =>
  async ({ refund_id }) => {
    await releaseReservation(pool, refund_id);
    return {};
  };
