import type { Pool } from '../../../shared/db/pool.ts';
import { captureTermsOf, type EndAuthorization } from './end-authorization.ts';
import { captureAmounts } from './model/authorization.ts';
import { listDue } from './store/authorizations.ts';

const BATCH = 200;

/**
 * Ends authorizations whose window is over, whose threshold is reached, or whose wallet no longer
 * covers them: what was used is captured. Use that does not exceed its fee, or none, is void.
 * Replicas may run it at once, because an authorization ends once.
 */
export const endDueAuthorizations =
  ({ pool, endAuthorization }: { pool: Pool; endAuthorization: EndAuthorization }) =>
  async (): Promise<boolean> => {
    const due = await listDue(pool, BATCH);
    await Promise.all(
      due.map((row) => {
        const amounts = captureAmounts(row.units_consumed, captureTermsOf(row));
        return amounts === null ? endAuthorization.void(row) : endAuthorization.capture(row, amounts);
      }),
    );
    return due.length > 0;
  };
