import type { Records } from '../../../shared/boot.ts';
import { releaseRefund } from './release-refund.ts';
import { reserveRefund } from './reserve-refund.ts';

/** The operations of this noun. */
export const refundOperations = (deps: Pick<Records, 'pool'>) => ({
  reserveRefund: reserveRefund(deps),
  releaseRefund: releaseRefund(deps),
});
