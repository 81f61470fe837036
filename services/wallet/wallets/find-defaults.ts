import type { Handler } from '../../../shared/contract/service.ts';
import type { wallet } from '../../../shared/contract/wallet.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { listDefaultWallets } from './store.ts';

/** int.wallet.findDefaults. */
export const findDefaults =
  ({ pool }: { pool: Pool }): Handler<typeof wallet.internal.findDefaults> =>
  async ({ account_ids }) => {
    const rows = await listDefaultWallets(pool, account_ids);
    const found = new Map(rows.map(({ account_id, ...addresses }) => [account_id, addresses]));
    return account_ids.map((account_id) => found.get(account_id) ?? null);
  };
