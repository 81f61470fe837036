import type { z } from 'zod';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { deletePreparations } from '../delegations/store/preparations.ts';
import { eraseItemQueries } from '../transactions/store/transactions.ts';
import { deleteSnapshots } from '../wallets/snapshots/store.ts';
import { deleteWallets, listWalletIds } from '../wallets/store.ts';

/** Deletes the wallets of an account, or only those whose key its owner has from elsewhere. */
const deleteWalletsOf = (
  pool: Pool,
  accountId: string,
  { onlyLinked }: { onlyLinked: boolean },
): Promise<void> =>
  pool.transaction(async (tx) => {
    const walletIds = await listWalletIds(tx, accountId, { onlyLinked });
    await deletePreparations(tx, walletIds);
    await deleteSnapshots(tx, walletIds);
    await deleteWallets(tx, walletIds);
  });

/**
 * Deletes the linked wallets of a closed account at once, so that their owner may link them to
 * another one. A wallet that was created here keeps its backup until the account is erased.
 */
export const accountClosed =
  ({ pool }: { pool: Pool }) =>
  ({ account_id }: z.infer<typeof identity.events.accountClosed>): Promise<void> =>
    deleteWalletsOf(pool, account_id, { onlyLinked: true });

/**
 * Deletes all wallets of an erased account, with labels and backups, and the queries of what its
 * programs have bought.
 */
export const accountErased =
  ({ pool }: { pool: Pool }) =>
  async ({ account_id }: z.infer<typeof identity.events.accountErased>): Promise<void> => {
    await eraseItemQueries(pool, account_id);
    await deleteWalletsOf(pool, account_id, { onlyLinked: false });
  };
