import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { formatMicro } from '../../../shared/lib/micro.ts';
import type { Deps } from '../deps.ts';
import { spentBy } from '../store/spent.ts';

/** Internal: what wallets have paid since a moment. */
export const sumSpentSince =
  ({ pool }: Pick<Deps, 'pool'>): Handler<typeof settlement.internal.sumSpentSince> =>
  async ({ wallets }) =>
    (await spentBy(pool, wallets)).map(({ wallet_id, spent }) => ({ wallet_id, spent: formatMicro(spent) }));
