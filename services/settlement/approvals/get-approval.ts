import { notFound } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { findApprovalRow } from './store/approvals.ts';
import { scopeOf, showApproval } from './view.ts';

/** GET /v1/approvals/:approval_id. */
export const getApproval =
  ({ pool }: { pool: Pool }): Handler<typeof settlement.operations.getApproval> =>
  async ({ approval_id }, caller) => {
    const row = await findApprovalRow(pool, scopeOf(caller), approval_id);
    if (row === null) throw notFound('approval');
    return showApproval(row);
  };
