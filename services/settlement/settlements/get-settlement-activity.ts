import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { isoTimeOrNull } from '../../../shared/lib/clock.ts';
import { getActivity } from './store/settlements.ts';

/** Internal: what stands in the way of a service's end. */
export const getSettlementActivity =
  ({ pool }: { pool: Pool }): Handler<typeof settlement.internal.getSettlementActivity> =>
  async ({ service_id }) => {
    const { open, ends_at } = await getActivity(pool, service_id);
    return { open, ends_at: isoTimeOrNull(ends_at) };
  };
