import type { quote } from '../../../shared/contract/quote.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { isoTimeOrNull } from '../../../shared/lib/clock.ts';
import type { Deps } from '../deps.ts';
import { activityOf } from '../store/quotes.ts';

/** Internal: what stands in the way of a service's end. */
export const getQuoteActivity =
  ({ pool }: Pick<Deps, 'pool'>): Handler<typeof quote.internal.getQuoteActivity> =>
  async ({ service_id }) => {
    const { open, ends_at } = await activityOf(pool, service_id);
    return { open, ends_at: isoTimeOrNull(ends_at) };
  };
