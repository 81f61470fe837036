import type { z } from 'zod';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { eraseApprovalQueries } from '../approvals/store/approvals.ts';
import { eraseResourceQueries } from '../record/store/outgoing/outgoing-payments.ts';

/**
 * Erases the queries of the addresses that an account has paid for, because a program may have put
 * anything into them. The payments themselves are kept.
 */
export const accountErased =
  ({ pool }: { pool: Pool }) =>
  async ({ account_id }: z.infer<typeof identity.events.accountErased>): Promise<void> => {
    await eraseApprovalQueries(pool, account_id);
    await eraseResourceQueries(pool, account_id);
  };
