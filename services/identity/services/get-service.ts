import { notFound } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { FeeRule } from '../../../shared/lib/money/fee.ts';
import { findServiceRow } from './store.ts';
import { showService } from './view.ts';

/** GET /v1/services/:service_id. */
export const getService =
  ({ pool, fee }: { pool: Pool; fee: FeeRule }): Handler<typeof identity.operations.getService> =>
  async ({ service_id }, caller) => {
    const row = await findServiceRow(pool, caller.account_id, service_id);
    if (row === null) throw notFound('service');
    return showService(row, fee);
  };
