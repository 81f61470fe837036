import type { Handler } from '../../../shared/contract/service.ts';
import type { wallet } from '../../../shared/contract/wallet.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { listWalletsNamed } from './store.ts';

/** wallet.findWallets, for an operator who knows an address. */
export const findWallets =
  ({ pool }: { pool: Pool }): Handler<typeof wallet.internal.findWallets> =>
  async ({ text }) =>
    (await listWalletsNamed(pool, text)).map(
      ({ account_id, wallet_id, public_key, token_account, kind }) => ({
        account_id,
        wallet_id,
        owner: public_key,
        token_account,
        kind,
      }),
    );
