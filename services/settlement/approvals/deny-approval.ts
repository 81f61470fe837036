import { conflict } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { type DecideDeps, decide } from './decide.ts';
import { recordDenied } from './store/approvals.ts';
import { showApproval } from './view.ts';

/**
 * POST /v1/approvals/:approval_id/deny. One that has expired can be denied too: the delegate then
 * does not ask again.
 */
export const denyApproval =
  (deps: DecideDeps): Handler<typeof settlement.operations.denyApproval> =>
  async ({ approval_id }, { account_id }) => {
    const approval = { account_id, approval_id };
    const { row } = await decide(deps, approval, (tx) => recordDenied(tx, approval));
    if (row.status === 'denied') return showApproval(row);
    throw conflict('the payment was made already, so it cannot be denied; read the settlement', {
      ...(row.settlement_id !== null && { settlement_id: row.settlement_id }),
    });
  };
