import type { Handler } from '../../../shared/contract/service.ts';
import type { wallet } from '../../../shared/contract/wallet.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { updateDefaultWallet } from './store.ts';

/** int.wallet.setDefault. */
export const setDefault =
  ({ pool }: { pool: Pool }): Handler<typeof wallet.internal.setDefault> =>
  async ({ account_id, wallet_id }) => ({
    found: await pool.transaction((tx) => updateDefaultWallet(tx, account_id, wallet_id)),
  });
