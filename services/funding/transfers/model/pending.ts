import { conflict, type MoneyMoved, type ServiceError } from '../../../../shared/contract/errors.ts';

export type TransferKind = 'withdrawal' | 'refund';

/** A withdrawal or a refund, as far as these rules need it. `elapsed`: its life is over. */
export type Transfer = {
  status: string;
  elapsed: boolean;
  failure_code: string | null;
  failure_message: string | null;
};
type Progressed = Pick<Transfer, 'status' | 'elapsed'>;

const isPending = (status: string) => status === 'pending_approval' || status === 'pending_signature';

/**
 * Whether money of a transfer has moved. An elapsed transfer may have been submitted before; this
 * is unknown until the sweep has queried chain-submitter.
 */
const moneyMoved = ({ status, elapsed }: Progressed): MoneyMoved => {
  if (status === 'confirmed' || status === 'finalized') return 'yes';
  return status === 'submitted' || (elapsed && isPending(status)) ? 'unknown' : 'no';
};

const refusal = (transfer: Progressed, message: string): ServiceError => {
  const money_moved = moneyMoved(transfer);
  const canRetry = money_moved === 'unknown' && isPending(transfer.status);
  return conflict(message, { money_moved, safe_action: canRetry ? 'retry_same_attempt' : 'stop' });
};

/** The refusal of a change to a transfer that was submitted, whatever has become of it. */
export const submittedAlready = (
  kind: TransferKind,
  transfer: Progressed = { status: 'submitted', elapsed: false },
): ServiceError =>
  refusal(transfer, `the ${kind} was submitted already, so it can no longer be changed: read its status`);

/** The status now: an elapsed transfer is expired before the sweep has recorded it. */
export const statusNow = <S extends string>({
  status,
  elapsed,
}: {
  status: S;
  elapsed: boolean;
}): S | 'expired' => (elapsed && isPending(status) ? 'expired' : status);

/** @throws ServiceError conflict for a transfer that is cancelled or expired */
export const requireNotClosed = (kind: TransferKind, transfer: Transfer): void => {
  const status = statusNow(transfer);
  if (status === 'cancelled' || status === 'expired')
    throw refusal(transfer, `the ${kind} is ${status}: create another one`);
};

/** @throws ServiceError conflict unless the transfer still waits for its owner's signature */
export const requirePending = (kind: TransferKind, transfer: Transfer): void => {
  requireNotClosed(kind, transfer);
  if (!isPending(statusNow(transfer))) throw submittedAlready(kind, transfer);
};
