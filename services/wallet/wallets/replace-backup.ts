import { conflict, ServiceError } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { wallet } from '../../../shared/contract/wallet.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { insertSecurityNote } from '../../../shared/events/security-note.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { checkProof } from './register.ts';
import { getWallet, updateBackup } from './store.ts';

/**
 * PATCH /v1/wallets/:wallet_id/backup. The proof prevents a stolen sign-in from destroying the
 * backup. `replaces` prevents two devices from overwriting each other's change: the second one gets
 * a conflict.
 */
export const replaceBackup =
  (deps: { pool: Pool; clock: Clock }): Handler<typeof wallet.operations.replaceBackup> =>
  async ({ wallet_id, proof, replaces, backup }, { account_id }) => {
    const row = await getWallet(deps.pool, account_id, wallet_id);
    if (row.backup === null) throw new ServiceError('not_found', 'the wallet has no backup');
    checkProof(deps, account_id, row.public_key, proof);
    const isReplaced = await deps.pool.transaction(async (tx) => {
      if (!(await updateBackup(tx, wallet_id, { replaces, backup }))) return false;
      await insertSecurityNote(tx, 'wallet', { account_id, kind: 'backup_replaced', details: { wallet_id } });
      return true;
    });
    if (!isReplaced) throw conflict('the backup was replaced meanwhile: read it again');
    return { wallet_id, backup };
  };
