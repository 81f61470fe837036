import type { quote } from '../../../shared/contract/quote.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { isoTimeOrNull } from '../../../shared/lib/clock.ts';
import { getActivity } from './store.ts';

/** Internal: whether a service still has quotes that can be paid, which delays its deletion. */
export const getQuoteActivity =
  ({ pool }: { pool: Pool }): Handler<typeof quote.internal.getQuoteActivity> =>
  async ({ service_id }) => {
    const { open, ends_at } = await getActivity(pool, service_id);
    return { open, ends_at: isoTimeOrNull(ends_at) };
  };
