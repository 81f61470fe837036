import type { z } from 'zod';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { erasePaymentUrls } from '../deposits/store/deposits.ts';
import { eraseRefundReasons } from '../transfers/store/refunds.ts';
import { eraseApprovers } from '../transfers/store/withdrawals.ts';

/**
 * Erases what the owner of the account or its provider has written: the reasons of its refunds and
 * the payment pages of its deposits. The transfers are kept.
 */
export const accountErased =
  ({ pool }: { pool: Pool }) =>
  async ({ account_id }: z.infer<typeof identity.events.accountErased>): Promise<void> => {
    await erasePaymentUrls(pool, account_id);
    await eraseRefundReasons(pool, account_id);
    await eraseApprovers(pool, account_id);
  };
