import type { Records } from '../../../shared/boot.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { listHandler } from '../../../shared/lists/list.ts';
import type { ServiceTerms } from '../terms.ts';
import { listApprovalRows } from './store/approvals.ts';
import { scopeOf, showApproval } from './view.ts';

/**
 * GET /v1/approvals: the account's approvals, or those of a delegate's own payments, newest first.
 */
export const listApprovals = (
  deps: Pick<Records, 'reads'> & Pick<ServiceTerms, 'cursorKeys'>,
): Handler<typeof settlement.operations.listApprovals> =>
  listHandler(deps, 'approvals', {
    scope: ({ status }, caller) => ({ ...scopeOf(caller), status }),
    rows: listApprovalRows,
    place: (row) => row.approval_id,
    show: (rows) => rows.map(showApproval),
  });
