import type { z } from 'zod';
import type { PrincipalOf } from '../../../shared/contract/principal.ts';
import type { Approval } from '../../../shared/contract/settlement.ts';
import { isoTime, isoTimeOrNull } from '../../../shared/lib/clock.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import type { ApprovalRow, Scope } from './store/approvals.ts';

/** The caller's scope. */
export const scopeOf = (caller: PrincipalOf<readonly ['jwt', 'delegate_key']>): Scope =>
  caller.kind === 'delegate_key'
    ? { account_id: caller.account_id, delegate_id: caller.delegate_id }
    : { account_id: caller.account_id };

/** An approval as the owner and its delegate see it. */
export const showApproval = ({ account_id: _account, ...row }: ApprovalRow): z.infer<typeof Approval> => ({
  ...row,
  amount: formatMicro(row.amount),
  created_at: isoTime(row.created_at),
  expires_at: isoTime(row.expires_at),
  decided_at: isoTimeOrNull(row.decided_at),
});

/** The same for events, which name the owner. */
export const approvalEvent = (row: ApprovalRow) => ({ ...showApproval(row), account_id: row.account_id });
