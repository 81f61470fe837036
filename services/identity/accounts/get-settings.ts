import type { Records } from '../../../shared/boot.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Peers } from '../peers.ts';
import { getAccountRow } from './store.ts';
import { showSettings } from './view.ts';

/** GET /v1/accounts/me/settings. */
export const getSettings =
  ({
    pool,
    findDefaultWallet,
  }: Pick<Records, 'pool'> & Pick<Peers, 'findDefaultWallet'>): Handler<
    typeof identity.operations.getSettings
  > =>
  async (_input, { account_id }) => {
    const [row, walletId] = await Promise.all([
      getAccountRow(pool, account_id),
      findDefaultWallet(account_id),
    ]);
    return showSettings(row, walletId);
  };
