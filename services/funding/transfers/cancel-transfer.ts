import type { Peers } from '../peers.ts';
import { requirePending, submittedAlready, type Transfer, type TransferKind } from './model/pending.ts';
import { type RecordProgressDeps, recordClosing, recordProgress } from './record-progress.ts';

export type CancelTransferDeps = RecordProgressDeps & Pick<Peers, 'cancelPrepared'>;

/**
 * Cancels a transfer that waits for its owner's signature, for good. A repeat gives the same
 * result.
 * @throws ServiceError conflict when the transfer was submitted or has expired
 */
export const cancelTransfer = async (
  deps: CancelTransferDeps,
  kind: TransferKind,
  { id, transfer }: { id: string; transfer: Transfer },
): Promise<void> => {
  if (transfer.status === 'cancelled') return;
  requirePending(kind, transfer);
  const progress = await deps.cancelPrepared({ transfer: kind, object_id: id });
  if (progress !== null) {
    await recordProgress(deps, kind, progress);
    throw submittedAlready(kind);
  }
  await recordClosing(deps, kind, id, 'cancel');
};
