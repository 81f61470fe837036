import { openParts } from '../../../shared/contract/account-activity.ts';
import type { quote } from '../../../shared/contract/quote.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { hasOpenQuotes } from './store.ts';

/** Internal: whether quotes of an account can still be paid, which delays its closure. */
export const getAccountActivity =
  ({ pool }: { pool: Pool }): Handler<typeof quote.internal.getAccountActivity> =>
  async ({ account_id }) =>
    openParts({ quotes: await hasOpenQuotes(pool, account_id) });
