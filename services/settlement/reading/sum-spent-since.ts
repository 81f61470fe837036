import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import { sumSpent } from '../record/store/spent-since.ts';

/** int.settlement.sumSpentSince: what wallets have paid since a time. */
export const sumSpentSince =
  ({ pool }: { pool: Pool }): Handler<typeof settlement.internal.sumSpentSince> =>
  async ({ wallets }) =>
    (await sumSpent(pool, wallets)).map(({ wallet_id, spent }) => ({ wallet_id, spent: formatMicro(spent) }));
