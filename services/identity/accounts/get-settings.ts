import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { getAccountRow } from './store.ts';
import { showSettings } from './view.ts';

/** GET /v1/accounts/me/settings. */
export const getSettings =
  ({
    pool,
    findDefaultWallet,
  }: {
    pool: Pool;
    /** The wallet that pays where the caller names none. Null when the account has none. */
    findDefaultWallet: (accountId: string) => Promise<string | null>;
  }): Handler<typeof identity.operations.getSettings> =>
  async (_input, { account_id }) => {
    const [row, walletId] = await Promise.all([
      getAccountRow(pool, account_id),
      findDefaultWallet(account_id),
    ]);
    return showSettings(row, walletId);
  };
