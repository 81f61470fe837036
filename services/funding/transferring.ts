import { readUntil } from '../../shared/bus/read-until.ts';
import type { Progress } from '../../shared/contract/chain-submitter.ts';
import { conflict, isErrorCode, type MoneyMoved, ServiceError } from '../../shared/contract/errors.ts';
import { isDecided } from '../../shared/lib/chain-work.ts';
import { type Deps, wakeKey } from './deps.ts';
import { insertMoved, insertTransferChanged } from './events.ts';
import { endTransfer, type Kind, transitionTransfer } from './store/transfers.ts';

/**
 * What withdrawals and refunds do alike once they are prepared. chain-submitter holds the prepared bytes under the
 * object's id and is where submission and cancel meet: only what it says has become of them moves the record.
 */
export type Transfer = {
  status: string;
  elapsed: boolean;
  failure_code: string | null;
  failure_message: string | null;
};

const isWaiting = (status: string) => status === 'pending_approval' || status === 'pending_signature';

/** Whether money of a transfer has moved. Past its life it may have been submitted before, until the job has asked. */
const moved = ({ status, elapsed }: Pick<Transfer, 'status' | 'elapsed'>): MoneyMoved => {
  if (status === 'confirmed' || status === 'finalized') return 'yes';
  return status === 'submitted' || (elapsed && isWaiting(status)) ? 'unknown' : 'no';
};
const refusal = (transfer: Pick<Transfer, 'status' | 'elapsed'>, message: string) => {
  const money_moved = moved(transfer);
  const asksAgain = money_moved === 'unknown' && isWaiting(transfer.status);
  return conflict(message, {
    money_moved,
    safe_action: asksAgain ? 'retry_same_attempt' : 'stop',
  });
};

/** Status now: past its life it counts as expired whether or not the job has marked it. */
export const statusNow = <S extends string>({
  status,
  elapsed,
}: {
  status: S;
  elapsed: boolean;
}): S | 'expired' => (elapsed && isWaiting(status) ? 'expired' : status);

/** @throws ServiceError conflict unless the transfer still waits for its owner */
export const requireWaiting = (kind: Kind, transfer: Transfer): void => {
  const status = statusNow(transfer);
  if (status === 'cancelled' || status === 'expired') throw refusal(transfer, `the ${kind} is ${status}`);
  if (!isWaiting(status)) throw refusal(transfer, `the ${kind} was submitted already`);
};

/** Ends a transfer that waits for its owner, and tells it. */
export const end = async (
  { pool, relay }: Pick<Deps, 'pool' | 'relay'>,
  kind: Kind,
  objectId: string,
  event: 'cancel' | 'elapse',
): Promise<void> => {
  const outbox = await pool.transaction(async (tx) =>
    (await endTransfer(tx, kind, objectId, event)) ? insertTransferChanged(tx, kind, objectId) : [],
  );
  relay.dispatch(outbox);
};

/** Takes over what chain-submitter says, and tells whoever waits for it. */
export const takeOver = async (
  { pool, relay, waiting }: Pick<Deps, 'pool' | 'relay' | 'waiting'>,
  kind: Kind,
  event: Progress,
): Promise<void> => {
  const outbox = await pool.transaction(async (tx) => {
    if (!(await transitionTransfer(tx, kind, event))) return [];
    // Sent, or sent again after a fork: where the transfer stands has not been decided.
    const moved = isDecided(event.status) ? await insertMoved(tx, event.object_id) : [];
    return [...moved, ...(await insertTransferChanged(tx, kind, event.object_id))];
  });
  relay.dispatch(outbox);
  waiting.wake(wakeKey.transfer(event.object_id));
};

/**
 * Submits what the owner signed and waits for the chain. Repeatable: the same bytes give the same result.
 * @param read the transfer as it stands, whoever asks
 * @returns the transfer, `submitted` when the chain took longer than the wait
 * @throws ServiceError conflict for one that is cancelled or expired; the code of the failure when it failed
 */
export const submit = async <T extends Transfer>(
  deps: Deps,
  kind: Kind,
  { id, transaction, read }: { id: string; transaction: string; read: () => Promise<T> },
): Promise<T> => {
  const transfer = await read();
  const status = statusNow(transfer);
  if (status === 'cancelled' || status === 'expired') throw refusal(transfer, `the ${kind} is ${status}`);
  const { tx_hash } = await deps.submitPrepared({ preparation_id: id, transaction });
  // The event says the same and may be late or here already.
  const signed = {
    object_id: id,
    status: 'signed',
    generation: 1,
    tx_hash,
    slot: null,
    failure: null,
  } as const;
  await takeOver(deps, kind, signed);
  const outcome = await readUntil(deps.waiting, wakeKey.transfer(id), {
    read,
    done: (transfer) => isDecided(transfer.status),
    timeoutMs: deps.chainWaitMs,
  });
  if (outcome.status === 'failed') {
    const code = isErrorCode(outcome.failure_code) ? outcome.failure_code : 'payment_failed';
    const message = outcome.failure_message ?? 'the transaction failed';
    throw new ServiceError(code, `${message}; the ${kind} is over`, {
      money_moved: 'no',
      safe_action: 'stop',
    });
  }
  return outcome;
};

/**
 * Cancels a transfer that waits for its owner, for good; a repeat gives the same result.
 * @throws ServiceError conflict when it was submitted or its life is over
 */
export const cancel = async (
  deps: Deps,
  kind: Kind,
  { id, transfer }: { id: string; transfer: Transfer },
): Promise<void> => {
  if (transfer.status === 'cancelled') return;
  requireWaiting(kind, transfer);
  const progress = await deps.cancelPrepared({ transfer: kind, object_id: id });
  if (progress !== null) {
    await takeOver(deps, kind, progress);
    throw refusal({ status: 'submitted', elapsed: false }, `the ${kind} was submitted already`);
  }
  await end(deps, kind, id, 'cancel');
};
