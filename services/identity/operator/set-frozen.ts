import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { updateFrozenAt } from '../accounts/store.ts';
import { updateAccountStatus } from './update-account-status.ts';

/**
 * Internal: freezes or unfreezes an account. Gateways apply it when they check a credential the
 * next time without their cache, within 1 s.
 */
export const setFrozen =
  ({ pool }: { pool: Pool }): Handler<typeof identity.internal.setFrozen> =>
  ({ account_id, frozen, ...operator }) =>
    updateAccountStatus(pool, account_id, operator, {
      action: frozen ? 'account.freeze' : 'account.unfreeze',
      isSo: (row) => (row.frozen_at !== null) === frozen,
      change: (tx) => updateFrozenAt(tx, account_id, frozen),
    });
