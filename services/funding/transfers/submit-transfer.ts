import { readUntil } from '../../../shared/bus/read-until.ts';
import type { Waiting } from '../../../shared/bus/wake.ts';
import { isErrorCode, ServiceError } from '../../../shared/contract/errors.ts';
import { isDecided } from '../../../shared/lib/chain/chain-work.ts';
import { failpoint } from '../../../shared/lib/failpoint.ts';
import type { Peers } from '../peers.ts';
import type { Terms } from '../terms.ts';
import { requireNotClosed, type Transfer, type TransferKind } from './model/pending.ts';
import { type RecordProgressDeps, recordProgress, wakeKey } from './record-progress.ts';

export type SubmitTransferDeps = RecordProgressDeps & { waiting: Waiting } & Pick<Terms, 'chainWaitMs'> &
  Pick<Peers, 'submitPrepared'>;

/**
 * Submits the transaction that the owner signed and waits for the chain. Repeatable: the same bytes
 * give the same result. chain-submitter holds the prepared bytes under the object's id and
 * serializes submission and cancel, so only its progress changes the record.
 * @param read reads the transfer with the caller's scope
 * @returns the transfer; it is still `submitted` when the wait ended before the chain decided
 * @throws ServiceError conflict for a cancelled or expired transfer; the code of the failure for a
 *   failed one
 */
export const submitTransfer = async <T extends Transfer>(
  deps: SubmitTransferDeps,
  kind: TransferKind,
  { id, transaction, read }: { id: string; transaction: string; read: () => Promise<T> },
): Promise<T> => {
  requireNotClosed(kind, await read());
  const { tx_hash } = await deps.submitPrepared({ preparation_id: id, transaction });
  await failpoint('funding.afterSubmitted');
  // The event of chain-submitter has the same content. It may be late, or recorded already.
  await recordProgress(deps, kind, {
    object_id: id,
    status: 'signed',
    generation: 1,
    tx_hash,
    slot: null,
    failure: null,
  });
  const outcome = await readUntil(deps.waiting, wakeKey(id), {
    read,
    done: ({ status }) => isDecided(status),
    timeoutMs: deps.chainWaitMs,
  });
  if (outcome.status === 'failed') {
    const code = isErrorCode(outcome.failure_code) ? outcome.failure_code : 'payment_failed';
    const message = outcome.failure_message ?? 'the transaction failed';
    throw new ServiceError(code, `${message}; this ${kind} has failed for good: create another one`, {
      money_moved: 'no',
      safe_action: 'stop',
    });
  }
  return outcome;
};
