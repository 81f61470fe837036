import { ServiceError } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { wallet } from '../../../shared/contract/wallet.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { insertSecurityNote } from '../../../shared/events/security-note.ts';
import { getWallet } from './store.ts';

/** GET /v1/wallets/:wallet_id/backup. */
export const backup =
  ({ pool }: { pool: Pool }): Handler<typeof wallet.operations.backup> =>
  async ({ wallet_id }, { account_id }) => {
    const row = await getWallet(pool, account_id, wallet_id);
    if (row.backup === null) throw new ServiceError('not_found', 'the wallet has no backup');
    await insertSecurityNote(pool, 'wallet', { account_id, kind: 'backup_read', details: { wallet_id } });
    return { wallet_id, backup: row.backup };
  };
