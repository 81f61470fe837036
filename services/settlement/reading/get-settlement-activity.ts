import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { isoTimeOrNull } from '../../../shared/lib/clock.ts';
import { getActivity } from '../record/store/settlements.ts';

/** int.settlement.getSettlementActivity: what a service waits for before it is deleted. */
export const getSettlementActivity =
  ({ pool }: { pool: Pool }): Handler<typeof settlement.internal.getSettlementActivity> =>
  async ({ service_id }) => {
    const { open, ends_at } = await getActivity(pool, service_id);
    return { open, ends_at: isoTimeOrNull(ends_at) };
  };
