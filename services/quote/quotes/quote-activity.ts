import type { quote } from '../../../shared/contract/quote.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { isoTimeOrNull } from '../../../shared/lib/clock.ts';
import { getQuoteActivity } from './store.ts';

/** Internal: whether a service still has quotes that can be paid, which delays its deletion. */
export const quoteActivity =
  ({ pool }: { pool: Pool }): Handler<typeof quote.internal.quoteActivity> =>
  async ({ service_id }) => {
    const { open, ends_at } = await getQuoteActivity(pool, service_id);
    return { open, ends_at: isoTimeOrNull(ends_at) };
  };
