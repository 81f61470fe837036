import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Deps } from '../deps.ts';
import { settlementsOfQuotes } from '../store/settlements.ts';

/** int.settlement.listByQuotes. */
export const listByQuotes =
  ({ pool }: Pick<Deps, 'pool'>): Handler<typeof settlement.internal.listByQuotes> =>
  async ({ quotes }) =>
    (await settlementsOfQuotes(pool, quotes)).map(({ quote_id, settlement_id, status }) => ({
      quote_id,
      settlement_id,
      last_event: status === 'pending' ? 'accepted' : status === 'failed' ? 'failed' : 'issued',
    }));
