import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { listByQuotes } from './store/settlements.ts';

/** int.settlement.findByQuotes. */
export const findByQuotes =
  ({ pool }: { pool: Pool }): Handler<typeof settlement.internal.findByQuotes> =>
  async ({ quotes }) =>
    (await listByQuotes(pool, quotes)).map(({ quote_id, settlement_id, status }) => ({
      quote_id,
      settlement_id,
      last: status === 'pending' ? 'accepted' : status === 'failed' ? 'failed' : 'issued',
    }));
