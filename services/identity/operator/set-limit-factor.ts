import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { updateLimitFactor } from '../accounts/store.ts';
import { updateAccountStatus } from './update-account-status.ts';

/** Internal: multiplies the request limits of an account. */
export const setLimitFactor =
  ({ pool }: { pool: Pool }): Handler<typeof identity.internal.setLimitFactor> =>
  ({ account_id, limit_factor, ...operator }) =>
    updateAccountStatus(pool, account_id, operator, {
      action: limit_factor === 1 ? 'limits.clear' : 'limits.set',
      isSo: (row) => row.limit_factor === limit_factor,
      change: (tx) => updateLimitFactor(tx, account_id, limit_factor),
    });
