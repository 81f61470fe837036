import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { getAccountRow } from './store.ts';

/** GET /v1/accounts/me. */
export const getAccount =
  ({ pool }: { pool: Pool }): Handler<typeof identity.operations.getAccount> =>
  async (_input, caller) => {
    const { account_id, email, display_name, created_at } = await getAccountRow(pool, caller.account_id);
    return { account_id, email, display_name, created_at: isoTime(created_at) };
  };
