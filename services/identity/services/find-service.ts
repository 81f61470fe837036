import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { findAnyServiceRow } from './store.ts';
import { showTerms } from './view.ts';

/** Internal: a service of any account, as a quote needs it. */
export const findService =
  ({ pool }: { pool: Pool }): Handler<typeof identity.internal.findService> =>
  async ({ service_id }) => {
    const row = await findAnyServiceRow(pool, service_id);
    return row === null ? null : { ...showTerms(row), account_id: row.account_id };
  };
