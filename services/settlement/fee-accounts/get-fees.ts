import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import { type Credit, creditOf, owedMicro } from './model.ts';
import { getFeeAccount } from './store.ts';

/** GET /v1/accounts/me/fees. */
export const getFees =
  ({ pool, credit }: { pool: Pool; credit: Credit }): Handler<typeof settlement.operations.getFees> =>
  async (_input, { account_id }) => {
    const account = await getFeeAccount(pool, account_id);
    return {
      accrued: formatMicro(account.accrued),
      paid: formatMicro(account.paid),
      owed: formatMicro(owedMicro(account)),
      credit: formatMicro(creditOf(account, credit)),
    };
  };
