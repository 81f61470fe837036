import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { isAccountFrozen } from '../store/standings.ts';

/** Internal: whether an operator has frozen an account. */
export const isFrozen =
  (deps: Deps): Handler<typeof identity.internal.isFrozen> =>
  async ({ account_id }) => ({ frozen: await isAccountFrozen(deps.pool, account_id) });
