import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { isAccountFrozen } from './store.ts';

/** Internal: whether an operator has frozen an account. */
export const isFrozen =
  ({ pool }: { pool: Pool }): Handler<typeof identity.internal.isFrozen> =>
  async ({ account_id }) => ({ frozen: await isAccountFrozen(pool, account_id) });
