import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { showSettings } from '../sessions/view.ts';
import { readAccount } from './store.ts';

/** GET /v1/accounts/me/settings. */
export const getSettings =
  (deps: Deps): Handler<typeof identity.operations.getSettings> =>
  async (_input, { account_id }) => {
    const [row, walletId] = await Promise.all([
      readAccount(deps.pool, account_id),
      deps.defaultWallet(account_id),
    ]);
    return showSettings(row, walletId);
  };
