import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { listSettlementsOfQuotes } from './store/settlements.ts';

/** int.settlement.listByQuotes. */
export const listByQuotes =
  ({ pool }: { pool: Pool }): Handler<typeof settlement.internal.listByQuotes> =>
  async ({ quotes }) =>
    (await listSettlementsOfQuotes(pool, quotes)).map(({ quote_id, settlement_id, status }) => ({
      quote_id,
      settlement_id,
      last_event: status === 'pending' ? 'accepted' : status === 'failed' ? 'failed' : 'issued',
    }));
