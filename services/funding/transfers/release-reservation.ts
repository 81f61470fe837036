import type { Records } from '../../../shared/boot.ts';
import type { Peers } from '../peers.ts';
import { recordRelease } from './store/refunds.ts';

export type ReleaseReservationDeps = Pick<Records, 'pool' | 'logger'> & Pick<Peers, 'releaseRefund'>;

/**
 * Releases what a closed or failed refund had reserved of its settlement. If settlement is
 * unavailable, the job `releaseRefunds` does it later.
 */
export const releaseReservation = async (deps: ReleaseReservationDeps, refundId: string): Promise<void> => {
  try {
    await deps.releaseRefund({ refund_id: refundId });
    await recordRelease(deps.pool, refundId);
  } catch (error) {
    deps.logger.warn(
      { err: error, refund_id: refundId },
      'reservation of a refund not released; the next run tries again',
    );
  }
};
