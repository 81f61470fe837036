import type { Handler } from '../../../shared/contract/service.ts';
import type { wallet } from '../../../shared/contract/wallet.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { findDefaultWallet, findWallet } from './store.ts';

/** int.wallet.find. */
export const find =
  ({ pool }: { pool: Pool }): Handler<typeof wallet.internal.find> =>
  async ({ account_id, wallet_id }) => {
    const row = await (wallet_id === undefined
      ? findDefaultWallet(pool, account_id)
      : findWallet(pool, account_id, wallet_id));
    if (row === null) return null;
    const { public_key: owner, token_account, authority } = row;
    return { wallet_id: row.wallet_id, owner, token_account, authority };
  };
