import type { Handler } from '../../../shared/contract/service.ts';
import type { wallet } from '../../../shared/contract/wallet.ts';
import type { Deps } from '../deps.ts';
import { setDefaultWallet } from './store.ts';

/** int.wallet.chooseDefault. */
export const chooseDefault =
  ({ pool }: Pick<Deps, 'pool'>): Handler<typeof wallet.internal.chooseDefault> =>
  async ({ account_id, wallet_id }) => ({
    chosen: await pool.transaction((tx) => setDefaultWallet(tx, account_id, wallet_id)),
  });
