import { openParts } from '../../../shared/contract/account-activity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { wallet } from '../../../shared/contract/wallet.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { hasFundedWallet } from '../wallets/store.ts';

/**
 * Internal: whether a wallet that was created here holds money, which delays the closure of its
 * account. Its only backup may be ours, and is erased.
 */
export const getAccountActivity =
  ({ pool }: { pool: Pool }): Handler<typeof wallet.internal.getAccountActivity> =>
  async ({ account_id }) =>
    openParts({ wallets: await hasFundedWallet(pool, account_id) });
