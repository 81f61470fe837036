import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { setFactor } from '../store/standings.ts';
import { changeStanding } from './account-status.ts';

/** Internal: multiplies the request limits of an account. */
export const setLimitFactor =
  (deps: Deps): Handler<typeof identity.internal.setLimitFactor> =>
  ({ account_id, limit_factor, ...operator }) =>
    changeStanding(deps.pool, account_id, operator, {
      action: limit_factor === 1 ? 'limits.clear' : 'limits.set',
      isSo: (row) => row.limit_factor === limit_factor,
      change: (tx) => setFactor(tx, account_id, limit_factor),
    });
