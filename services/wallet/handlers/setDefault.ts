import type { Handler } from '../../../shared/contract/service.ts';
import type { wallet } from '../../../shared/contract/wallet.ts';
import type { Deps } from '../deps.ts';
import { setDefaultWallet } from '../store/wallets.ts';

/** int.wallet.setDefault. */
export const setDefault =
  ({ pool }: Pick<Deps, 'pool'>): Handler<typeof wallet.internal.setDefault> =>
  async ({ account_id, wallet_id }) => ({
    found: await pool.transaction((tx) => setDefaultWallet(tx, account_id, wallet_id)),
  });
