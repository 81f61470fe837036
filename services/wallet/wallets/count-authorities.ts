import type { Handler } from '../../../shared/contract/service.ts';
import type { wallet } from '../../../shared/contract/wallet.ts';
import type { Deps } from '../deps.ts';
import { countByAuthority } from './store.ts';

/** How many wallets name each delegate authority, for an operator who retires one. */
export const countAuthorities =
  ({ pool }: Pick<Deps, 'pool'>): Handler<typeof wallet.internal.countAuthorities> =>
  async () =>
    (await countByAuthority(pool)).map(({ authority, wallets, active }) => ({
      authority,
      wallets: Number(wallets),
      active: Number(active),
    }));
