import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Status } from '../record/model/status.ts';
import { listLatestByQuotes } from '../record/store/settlements.ts';

/** What a settlement has last published of its quote. */
const LAST_EVENT = {
  pending: 'accepted',
  authorized: 'accepted',
  capturing: 'accepted',
  issued: 'issued',
  redeemed: 'issued',
  expired: 'issued',
  voided: 'failed',
  failed: 'failed',
} as const satisfies Record<Status, string>;

/** int.settlement.listByQuotes. */
export const listByQuotes =
  ({ pool }: { pool: Pool }): Handler<typeof settlement.internal.listByQuotes> =>
  async ({ quotes }) =>
    (await listLatestByQuotes(pool, quotes)).map(({ quote_id, settlement_id, status }) => ({
      quote_id,
      settlement_id,
      last_event: LAST_EVENT[status],
    }));
