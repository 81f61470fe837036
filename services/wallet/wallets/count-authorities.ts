import type { Handler } from '../../../shared/contract/service.ts';
import type { wallet } from '../../../shared/contract/wallet.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { countByAuthority } from './store.ts';

/** int.wallet.countAuthorities, for an operator who retires a delegate authority. */
export const countAuthorities =
  ({ pool }: { pool: Pool }): Handler<typeof wallet.internal.countAuthorities> =>
  async () =>
    (await countByAuthority(pool)).map(({ authority, wallets, active }) => ({
      authority,
      wallets: Number(wallets),
      active: Number(active),
    }));
