import { notFound } from '../../../shared/contract/errors.ts';
import type { Db, Pool } from '../../../shared/db/pool.ts';
import { event } from '../../../shared/events/event.ts';
import { insertOutbox } from '../../../shared/events/outbox.ts';
import type { Outbox } from '../../../shared/events/relay.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import { type ApprovalRow, findApprovalRow } from './store/approvals.ts';
import { approvalEvent } from './view.ts';

export type DecideDeps = { pool: Pool; relay: Outbox };

/**
 * Records a decision of the owner and publishes it in the same transaction.
 * @param record the guarded update; null when the approval's state does not allow it
 * @returns the row as it is now, and whether this call changed it
 * @throws ServiceError not_found when the account has no such approval
 */
export const decide = async (
  { pool, relay }: DecideDeps,
  { account_id, approval_id }: { account_id: string; approval_id: string },
  record: (tx: Db) => Promise<ApprovalRow | null>,
): Promise<{ row: ApprovalRow; isDecided: boolean }> => {
  const { row, outbox } = await pool.transaction(async (tx) => {
    const decided = await record(tx);
    return {
      row: decided,
      outbox:
        decided === null
          ? []
          : await insertOutbox(tx, [event('settlement.approvalDecided', approvalEvent(decided))]),
    };
  });
  relay.dispatch(outbox);
  if (row !== null) {
    count('quittance_approvals_total', 1, { outcome: row.status === 'denied' ? 'denied' : 'approved' });
    return { row, isDecided: true };
  }
  const found = await findApprovalRow(pool, { account_id }, approval_id);
  if (found === null) throw notFound('approval');
  return { row: found, isDecided: false };
};
