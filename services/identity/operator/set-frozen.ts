import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { setFrozenAt } from '../store/standings.ts';
import { changeStanding } from './account-status.ts';

/** Internal: freezes an account or gives it back. Gateways hear of it with the next look at a credential, within 1 s. */
export const setFrozen =
  (deps: Deps): Handler<typeof identity.internal.setFrozen> =>
  ({ account_id, frozen, ...operator }) =>
    changeStanding(deps.pool, account_id, operator, {
      action: frozen ? 'account.freeze' : 'account.unfreeze',
      isSo: (row) => (row.frozen_at !== null) === frozen,
      change: (tx) => setFrozenAt(tx, account_id, frozen),
    });
