import { conflict, ServiceError } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { wallet } from '../../../shared/contract/wallet.ts';
import type { Deps } from '../deps.ts';
import { checkProof } from './register.ts';
import { setBackup } from './store.ts';
import { ownWallet } from './view.ts';

/**
 * PATCH /v1/wallets/:wallet_id/backup. A stolen sign-in alone cannot put nonsense in its place, and of two devices that add
 * to it at once one is told.
 */
export const replaceBackup =
  (deps: Deps): Handler<typeof wallet.operations.replaceBackup> =>
  async ({ wallet_id, proof, replaces, backup }, caller) => {
    const row = await ownWallet(deps, caller.account_id, wallet_id);
    if (row.backup === null) throw new ServiceError('not_found', 'the wallet has no backup');
    checkProof(deps, caller.account_id, row.public_key, proof);
    if (!(await setBackup(deps.pool, wallet_id, { replaces, backup })))
      throw conflict('the backup was replaced meanwhile: read it again');
    return { wallet_id, backup };
  };
