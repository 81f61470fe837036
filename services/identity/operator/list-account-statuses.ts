import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { listChangedAccountStatuses } from '../accounts/store.ts';
import { showAccountStatus } from './view.ts';

/** Internal: the accounts that an operator has frozen or given other limits. */
export const listAccountStatuses =
  ({ pool }: { pool: Pool }): Handler<typeof identity.internal.listAccountStatuses> =>
  async ({ limit }) =>
    (await listChangedAccountStatuses(pool, limit)).map(showAccountStatus);
