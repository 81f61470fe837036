import type { Records } from '../../../shared/boot.ts';
import { readUntil } from '../../../shared/bus/read-until.ts';
import type { Waiting } from '../../../shared/bus/wake.ts';
import { notFound, ServiceError } from '../../../shared/contract/errors.ts';
import type { PrincipalOf } from '../../../shared/contract/principal.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { isOutgoingRail, type settlement } from '../../../shared/contract/settlement.ts';
import type { Peers } from '../peers.ts';
import type { ApplyProgress } from '../record/model/progress.ts';
import { isPaid } from '../record/model/status.ts';
import { findSettlementInScope, getSettlement, type SettlementRow } from '../record/store/settlements.ts';
import { scopeOf } from '../record/view.ts';
import { transactionOf } from './model/payment-response.ts';

export type ReportExternalDeps = Pick<Records, 'pool' | 'logger'> &
  Pick<Peers, 'observeOutgoing'> & { waiting: Waiting; applyProgress: ApplyProgress };

/** A vendor reports a payment that is confirmed, or is about to be. */
const WAIT_MS = 4000;
const POLL_MS = 1000;

/** A forked payment counts as pending until it is confirmed again. */
const statusOf = ({ status, chain_status }: SettlementRow) => {
  if (status === 'failed') return 'failed' as const;
  return isPaid(chain_status) ? ('confirmed' as const) : ('pending' as const);
};

/** A report is a hint, so it is answered from the record when the hint cannot be followed. */
const followHint = async (
  deps: ReportExternalDeps,
  row: SettlementRow,
  txHash: string | null,
): Promise<void> => {
  const { settlement_id } = row;
  try {
    const progress = await deps.observeOutgoing({
      account_id: row.account_id!,
      payment_attempt_id: row.payment_attempt_id!,
      settlement_id,
      tx_hash: txHash,
    });
    await deps.applyProgress(progress);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    deps.logger.warn(
      { err: error, settlement_id },
      'reported payment not searched: chain-submitter did not answer, it is searched later',
    );
  }
};

/** POST /v1/payments/:settlement_id/report. */
export const reportExternal =
  (deps: ReportExternalDeps): Handler<typeof settlement.operations.reportExternal> =>
  async ({ settlement_id, payment_response }, caller) => {
    const until = performance.now() + WAIT_MS;
    const found = await findSettlementInScope(deps.pool, payerScope(caller), settlement_id);
    if (found === null || !isOutgoingRail(found.rail)) throw notFound('outgoing payment');
    const isOpen = (row: SettlementRow) => statusOf(row) === 'pending';
    if (isOpen(found)) await followHint(deps, found, transactionOf(payment_response));
    const row = isOpen(found)
      ? await readUntil(deps.waiting, settlement_id, {
          read: () => getSettlement(deps.pool, settlement_id),
          done: (read) => !isOpen(read),
          timeoutMs: until - performance.now(),
          againMs: POLL_MS,
        })
      : found;
    return { settlement_id, status: statusOf(row), tx_hash: row.tx_hash };
  };

const payerScope = (caller: PrincipalOf<readonly ['jwt', 'delegate_key']>) => scopeOf(caller, 'payer');
