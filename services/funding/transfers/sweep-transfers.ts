import type { Records } from '../../../shared/boot.ts';
import type { Peers } from '../peers.ts';
import type { CancelTransferDeps } from './cancel-transfer.ts';
import type { TransferKind } from './model/pending.ts';
import { recordClosing, recordProgress } from './record-progress.ts';
import { claimDueTransfers } from './store.ts';

type Deps = CancelTransferDeps & Pick<Records, 'logger'> & Pick<Peers, 'observePrepared'>;

const BATCH = 50;
const KINDS: readonly TransferKind[] = ['withdrawal', 'refund'];

/**
 * Expires a transfer, unless chain-submitter has signed it: then its progress is recorded instead.
 */
const expire = async (deps: Deps, kind: TransferKind, id: string): Promise<void> => {
  const progress = await deps.cancelPrepared({ transfer: kind, object_id: id });
  if (progress === null) await recordClosing(deps, kind, id, 'elapse');
  else await recordProgress(deps, kind, progress);
};

/** Reads the progress from chain-submitter's record: events can be lost with their stream. */
const refresh = async (deps: Deps, kind: TransferKind, id: string): Promise<void> => {
  const progress = await deps.observePrepared({ transfer: kind, object_id: id });
  if (progress !== null) return recordProgress(deps, kind, progress);
  deps.logger.error(
    { metric: 'unknown_transfer', kind, id },
    'progress not refreshed: chain-submitter has no record of a submitted transfer',
  );
};

/**
 * Expires the transfers whose life is over, and refreshes those that make no progress
 * (docs/design/settle.md, rule 16).
 */
export const sweepTransfers = (deps: Deps) => async (): Promise<boolean> => {
  let found = false;
  for (const kind of KINDS) {
    for (const { id, waiting } of await claimDueTransfers(deps.pool, kind, BATCH)) {
      found = true;
      await (waiting ? expire : refresh)(deps, kind, id);
    }
  }
  return found;
};
