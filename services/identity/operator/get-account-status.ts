import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { findAccountStatus } from '../accounts/store.ts';
import { showAccountStatus } from './view.ts';

/** Internal: the status of an account, for an operator. */
export const getAccountStatus =
  ({ pool }: { pool: Pool }): Handler<typeof identity.internal.getAccountStatus> =>
  async ({ account_id }) => {
    const row = await findAccountStatus(pool, account_id);
    return row === null ? null : showAccountStatus(row);
  };
