import type { Records } from '../../../shared/boot.ts';
import type { Waiting } from '../../../shared/bus/wake.ts';
import type { Progress } from '../../../shared/contract/chain-submitter.ts';
import { insertOutbox } from '../../../shared/events/outbox.ts';
import { securityNote } from '../../../shared/events/security-note.ts';
import { isDecided } from '../../../shared/lib/chain/chain-work.ts';
import { insertMoved } from '../movements/events.ts';
import { insertTransferChanged } from './events.ts';
import type { TransferKind } from './model/pending.ts';
import { type Approved, takeApprover } from './store/withdrawals.ts';
import { closeTransfer, transitionTransfer } from './store.ts';

/** The key under which a call waits for the progress of a withdrawal or refund. */
export const wakeKey = (objectId: string): string => `transfer.${objectId}`;

type ClosingDeps = Pick<Records, 'pool' | 'relay'>;
export type RecordProgressDeps = ClosingDeps & { waiting: Pick<Waiting, 'wake'> };

/**
 * That a withdrawal was accepted. It is noted with its first progress, so exactly once: by the call
 * that submits it, or by the event if that call has lost the answer.
 */
const approvalNote = (withdrawal_id: string, { account_id, client }: Approved) =>
  securityNote('funding', { account_id, client, kind: 'withdrawal_approved', details: { withdrawal_id } });

/**
 * Records the progress that chain-submitter reports, publishes it, and wakes the calls that wait
 * for it.
 */
export const recordProgress = async (
  { pool, relay, waiting }: RecordProgressDeps,
  kind: TransferKind,
  progress: Progress,
): Promise<void> => {
  const { object_id, status } = progress;
  const outbox = await pool.transaction(async (tx) => {
    const approved = kind === 'withdrawal' ? await takeApprover(tx, object_id) : null;
    if (!(await transitionTransfer(tx, kind, progress))) return [];
    // A transaction that is signed, or signed again after a fork, has no outcome to publish yet.
    const moved = isDecided(status) ? await insertMoved(tx, object_id) : [];
    return [
      ...(approved === null ? [] : await insertOutbox(tx, [approvalNote(object_id, approved)])),
      ...moved,
      ...(await insertTransferChanged(tx, kind, object_id)),
    ];
  });
  relay.dispatch(outbox);
  waiting.wake(wakeKey(object_id));
};

/** Cancels or expires a transfer that waits for its owner's signature, and publishes it. */
export const recordClosing = async (
  { pool, relay }: ClosingDeps,
  kind: TransferKind,
  objectId: string,
  event: 'cancel' | 'elapse',
): Promise<void> => {
  const outbox = await pool.transaction(async (tx) =>
    (await closeTransfer(tx, kind, objectId, event)) ? insertTransferChanged(tx, kind, objectId) : [],
  );
  relay.dispatch(outbox);
};
