import type { funding } from '../../../shared/contract/funding.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import * as deposits from './store/deposits.ts';
import { showDeposit } from './view.ts';

/** GET /v1/deposits/:deposit_id. */
export const getDeposit =
  ({ pool }: { pool: Pool }): Handler<typeof funding.operations.getDeposit> =>
  async ({ deposit_id }, { account_id }) =>
    showDeposit(await deposits.getDeposit(pool, account_id, deposit_id));
