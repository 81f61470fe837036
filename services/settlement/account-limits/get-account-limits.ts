import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { getAccountLimits as getLimits } from '../delegates/store.ts';
import { showLimits } from './view.ts';

/** GET /v1/accounts/me/limits. */
export const getAccountLimits =
  ({ pool }: { pool: Pool }): Handler<typeof settlement.operations.getAccountLimits> =>
  async (_input, { account_id }) =>
    showLimits(await getLimits(pool, account_id));
