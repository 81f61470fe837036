import type { identity } from '../../../shared/contract/identity.ts';
import { ServiceId } from '../../../shared/contract/primitives.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { findAccountStatuses } from '../accounts/store.ts';
import { normaliseEmail } from '../sessions/model/email.ts';
import { showAccountStatus } from './view.ts';

/** Internal: the accounts that an operator names by any of their ids. */
export const findAccounts =
  ({ pool }: { pool: Pool }): Handler<typeof identity.internal.findAccounts> =>
  async ({ text }) => {
    const serviceId = ServiceId.safeParse(text).data ?? null;
    const rows = await findAccountStatuses(pool, { text: normaliseEmail(text) ?? text, serviceId });
    return rows.map(({ matched, id, state, ...row }) => ({
      account_status: showAccountStatus(row),
      matched,
      id,
      state,
    }));
  };
