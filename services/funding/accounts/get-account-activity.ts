import { openParts } from '../../../shared/contract/account-activity.ts';
import type { funding } from '../../../shared/contract/funding.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { hasOpenDeposits } from '../deposits/store/deposits.ts';
import { hasOpenDevFunds } from '../dev-funds/store.ts';
import { hasOpenRefunds } from '../transfers/store/refunds.ts';
import { hasOpenWithdrawals } from '../transfers/store/withdrawals.ts';

/** Internal: the transfers of an account that have no final outcome, which delay its closure. */
export const getAccountActivity =
  ({ pool }: { pool: Pool }): Handler<typeof funding.internal.getAccountActivity> =>
  async ({ account_id }) => {
    const [deposits, dev_funds, refunds, withdrawals] = await Promise.all([
      hasOpenDeposits(pool, account_id),
      hasOpenDevFunds(pool, account_id),
      hasOpenRefunds(pool, account_id),
      hasOpenWithdrawals(pool, account_id),
    ]);
    return openParts({ deposits, dev_funds, refunds, withdrawals });
  };
