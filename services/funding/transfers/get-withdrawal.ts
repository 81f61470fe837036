import type { funding } from '../../../shared/contract/funding.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import * as withdrawals from './store/withdrawals.ts';
import { showWithdrawal } from './view.ts';

/** GET /v1/withdrawals/:withdrawal_id. */
export const getWithdrawal =
  ({ pool }: { pool: Pool }): Handler<typeof funding.operations.getWithdrawal> =>
  async ({ withdrawal_id }, { account_id }) =>
    showWithdrawal(await withdrawals.getWithdrawal(pool, account_id, withdrawal_id));
