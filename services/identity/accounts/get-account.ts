import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import type { Deps } from '../deps.ts';
import { readAccount } from './store.ts';

/** GET /v1/accounts/me. */
export const getAccount =
  (deps: Deps): Handler<typeof identity.operations.getAccount> =>
  async (_input, caller) => {
    const { account_id, email, display_name, created_at } = await readAccount(deps.pool, caller.account_id);
    return { account_id, email, display_name, created_at: isoTime(created_at) };
  };
