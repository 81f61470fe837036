import type { Progress } from '../../../shared/contract/chain-submitter.ts';
import { type RecordProgressDeps, recordProgress } from './record-progress.ts';

export const withdrawalProgressed =
  (deps: RecordProgressDeps) =>
  (progress: Progress): Promise<void> =>
    recordProgress(deps, 'withdrawal', progress);

/**
 * The reservation of a failed refund is released by the job `releaseRefunds`, not here: a
 * subscriber must not wait for another service.
 */
export const refundProgressed =
  (deps: RecordProgressDeps) =>
  (progress: Progress): Promise<void> =>
    recordProgress(deps, 'refund', progress);
