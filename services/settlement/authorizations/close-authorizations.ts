import type { Pool } from '../../../shared/db/pool.ts';
import { type Closing, recordClosed } from '../record/store/authorizations.ts';

/**
 * Closes authorizations: no use is recorded any more, and what was used is captured at once.
 * Whoever stops a payer or a vendor does this, because the other side decides later what an
 * authorization pays.
 */
export const createCloseAuthorizations =
  ({ pool, endDue }: { pool: Pool; endDue: () => Promise<unknown> }) =>
  async (closing: Closing): Promise<void> => {
    const closed = await recordClosed(pool, closing);
    if (closed.length > 0) await endDue();
  };
export type CloseAuthorizations = ReturnType<typeof createCloseAuthorizations>;
