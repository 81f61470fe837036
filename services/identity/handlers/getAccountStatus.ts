import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { findStanding } from '../store/standings.ts';
import { presentStanding } from '../view.ts';

/** Internal: how an account stands, for an operator. */
export const getAccountStatus =
  (deps: Deps): Handler<typeof identity.internal.getAccountStatus> =>
  async ({ account_id }) => {
    const row = await findStanding(deps.pool, account_id);
    return row === null ? null : presentStanding(row);
  };
