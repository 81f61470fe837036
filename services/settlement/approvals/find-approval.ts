import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { findApprovalRow } from './store/approvals.ts';
import { showApproval } from './view.ts';

/** int.settlement.findApproval. */
export const findApproval =
  ({ pool }: { pool: Pool }): Handler<typeof settlement.internal.findApproval> =>
  async ({ account_id, approval_id }) => {
    const row = await findApprovalRow(pool, { account_id }, approval_id);
    return row === null ? null : showApproval(row);
  };
