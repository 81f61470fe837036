import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { ofAttempt } from '../../keys/store.ts';
import { isOpenSale, isUnderWay } from './conditions.ts';

const Row = z.object({
  payments: z.boolean(),
  sales: z.boolean(),
  approvals: z.boolean(),
  fees: z.boolean(),
});

/**
 * What of an account is open: payments until they are final, sales until they can no longer be
 * redeemed or consumed, approvals that may still be decided or used, and accrued fees.
 */
export const getAccountActivityRow = (db: Db, accountId: string): Promise<z.infer<typeof Row>> =>
  db.one(sql.type(Row)`
    select
      exists (select from settlements where account_id = ${accountId} and ${isUnderWay})
        or exists (select from authorizations where account_id = ${accountId} and due_at is not null) as payments,
      exists (
        select from settlements where vendor_account_id = ${accountId} and (${isUnderWay} or ${isOpenSale})
      ) as sales,
      exists (
        select from approvals as a
        where a.account_id = ${accountId} and a.expires_at > app_now() and a.approved is not false
          and ${ofAttempt(sql.fragment`a.account_id`, sql.fragment`a.payment_attempt_id`)} is null
      ) as approvals,
      exists (select from fee_accounts where account_id = ${accountId} and accrued > paid) as fees`);
