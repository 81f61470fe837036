import { openParts } from '../../../shared/contract/account-activity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { getAccountActivityRow } from '../record/store/account-activity.ts';

/** int.settlement.getAccountActivity: what an account waits for before it is closed. */
export const getAccountActivity =
  ({ pool }: { pool: Pool }): Handler<typeof settlement.internal.getAccountActivity> =>
  async ({ account_id }) =>
    openParts(await getAccountActivityRow(pool, account_id));
