import type { Pool } from '../../../shared/db/pool.ts';
import type { Logger } from '../../../shared/lib/logger.ts';
import { captureTermsOf, type EndAuthorization } from './end-authorization.ts';
import type { RecordLostCapture } from './lost-capture.ts';
import { captureAmounts } from './model/authorization.ts';
import { type AuthorizationRow, listDue } from './store/authorizations.ts';

const BATCH = 200;

type Deps = {
  pool: Pool;
  logger: Logger;
  endAuthorization: EndAuthorization;
  recordLostCapture: RecordLostCapture;
};

const end = ({ endAuthorization }: Deps, row: AuthorizationRow): Promise<unknown> => {
  const amounts = captureAmounts(row.units_consumed, captureTermsOf(row));
  return amounts === null ? endAuthorization.void(row) : endAuthorization.capture(row, amounts);
};

/** Ends one that a restore may have changed. It waits while the chain cannot be asked. */
const endAfterRestore = async (deps: Deps, row: AuthorizationRow): Promise<void> => {
  try {
    if (!(await deps.recordLostCapture(row))) await end(deps, row);
  } catch (err) {
    deps.logger.warn(
      { err, settlement_id: row.settlement_id },
      'authorization not ended: its capture may be lost, asking the chain again later',
    );
  }
};

/**
 * Ends authorizations whose window is over, whose threshold is reached, or whose wallet no longer
 * covers them: what was used is captured. Use that does not exceed its fee, or none, is void.
 * Replicas may run it at once, because an authorization ends once.
 */
export const endDueAuthorizations = (deps: Deps) => async (): Promise<boolean> => {
  const due = await listDue(deps.pool, BATCH);
  await Promise.all(due.filter((row) => !row.may_be_captured).map((row) => end(deps, row)));
  // One after the other, because each reads the chain.
  for (const row of due) if (row.may_be_captured) await endAfterRestore(deps, row);
  return due.length > 0;
};
