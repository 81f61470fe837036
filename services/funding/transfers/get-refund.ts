import type { funding } from '../../../shared/contract/funding.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { readScope } from './refund-scope.ts';
import * as refunds from './store/refunds.ts';
import { showRefund } from './view.ts';

/** GET /v1/refunds/:refund_id. */
export const getRefund =
  ({ pool }: { pool: Pool }): Handler<typeof funding.operations.getRefund> =>
  async ({ refund_id }, caller) =>
    showRefund(await refunds.getRefund(pool, readScope(caller), refund_id));
