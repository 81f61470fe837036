import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { isoTimeOrNull } from '../../../shared/lib/clock.ts';
import type { Deps } from '../deps.ts';
import { activityOf } from '../store/settlements.ts';

/** Internal: what stands in the way of a service's end. */
export const getSettlementActivity =
  ({ pool }: Pick<Deps, 'pool'>): Handler<typeof settlement.internal.getSettlementActivity> =>
  async ({ service_id }) => {
    const { open, ends_at } = await activityOf(pool, service_id);
    return { open, ends_at: isoTimeOrNull(ends_at) };
  };
