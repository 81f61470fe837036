import type { HourlyCaps } from '../../../shared/db/hourly-caps.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import { captureAmounts } from '../record/model/authorization.ts';
import {
  type AuthorizationRow,
  listDue,
  listUnknown,
  postponeCapture,
} from '../record/store/authorizations.ts';
import { captureTermsOf, type EndAuthorization } from './end-authorization.ts';
import type { RecordLostCapture } from './lost-capture.ts';

const BATCH = 200;

type Deps = {
  pool: Pool;
  logger: Logger;
  caps: HourlyCaps;
  endAuthorization: EndAuthorization;
  recordLostCapture: RecordLostCapture;
};

const end = async ({ pool, caps, endAuthorization }: Deps, row: AuthorizationRow): Promise<unknown> => {
  const amounts = captureAmounts(row.used, captureTermsOf(row));
  if (amounts === null) return endAuthorization.void(row);
  const captured = await endAuthorization.capture(row, amounts);
  // Otherwise it would keep others waiting in each turn, until the caps refill.
  if (typeof captured === 'object') await postponeCapture(pool, row.settlement_id, caps.refillsInSeconds());
  return captured;
};

/**
 * Asks the chain for the capture of one that a restore may have changed.
 * @returns whether it has none. Then the authorization is as it is recorded
 */
const isUncaptured = async ({ recordLostCapture, logger }: Deps, row: AuthorizationRow): Promise<boolean> => {
  try {
    return !(await recordLostCapture(row));
  } catch (err) {
    logger.warn(
      { err, settlement_id: row.settlement_id },
      'authorization not used or ended: its capture may be lost, asking the chain again later',
    );
    return false;
  }
};

/**
 * Ends authorizations whose window is over, whose threshold is reached, or whose wallet no longer
 * covers them: what was used is captured. Use that does not exceed its fee, or none, is void. After
 * a restore the chain is asked for their captures first, and for those of open ones before their
 * use. Replicas may run it at once, because an authorization ends once.
 */
export const endDueAuthorizations = (deps: Deps) => async (): Promise<boolean> => {
  const due = await listDue(deps.pool, BATCH);
  await Promise.all(due.filter((row) => !row.may_be_captured).map((row) => end(deps, row)));
  // One after the other, because each reads the chain.
  for (const row of due) if (row.may_be_captured && (await isUncaptured(deps, row))) await end(deps, row);
  const unknown = await listUnknown(deps.pool, BATCH);
  for (const row of unknown) await isUncaptured(deps, row);
  return due.length + unknown.length > 0;
};
