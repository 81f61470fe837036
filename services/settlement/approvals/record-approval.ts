import { conflict } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { type DecideDeps, decide } from './decide.ts';
import { recordApproved } from './store/approvals.ts';
import { showApproval } from './view.ts';

/** int.settlement.recordApproval. Identity has checked the passkey. */
export const recordApproval =
  (deps: DecideDeps): Handler<typeof settlement.internal.recordApproval> =>
  async (approval) => {
    const { row } = await decide(deps, approval, (tx) => recordApproved(tx, approval));
    if (row.status === 'approved') return showApproval(row);
    throw conflict(
      row.status === 'denied'
        ? 'the payment was denied, so it cannot be approved; the delegate can ask again with a new payment_attempt_id'
        : 'the approval has expired; the delegate can ask again with a new quote',
    );
  };
