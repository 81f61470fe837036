import type { Pool } from '../../../shared/db/pool.ts';
import { releaseRefund } from './release-refund.ts';
import { reserveRefund } from './reserve-refund.ts';

/** The operations of this noun, for main.ts and for the tests that serve them over a real bus. */
export const refundOperations = (deps: { pool: Pool }) => ({
  reserveRefund: reserveRefund(deps),
  releaseRefund: releaseRefund(deps),
});
