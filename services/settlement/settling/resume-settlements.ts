import type { Db } from '../../../shared/db/pool.ts';
import type { Message } from '../../../shared/events/event.ts';
import { type JobResumeDeps, resumeByJob } from '../core/resume.ts';
import { acceptedEvent, settleJob } from '../record/events.ts';
import { listTerms } from '../record/store/settlements.ts';
import type { DispatchRow } from '../record/store/stalled.ts';
import { QUITTANCE } from './quittance-rail.ts';

/** The dispatch count of a job that is dispatched for the second time. */
const AGAIN = 2;

/**
 * A replica that stopped has not published that it had accepted the payment. A repeat is not
 * harmful.
 */
const acceptedOf = async (tx: Db, stalled: readonly DispatchRow[]): Promise<Message[]> => {
  const again = stalled.filter(({ dispatch_count }) => dispatch_count === AGAIN);
  if (again.length === 0) return [];
  const terms = await listTerms(
    tx,
    again.map(({ settlement_id }) => settlement_id),
  );
  return terms.map((each) => acceptedEvent(each));
};

/** Resumes payments of quotes without progress. */
export const resumeSettlements = (deps: JobResumeDeps) =>
  resumeByJob(deps, QUITTANCE, async (tx, stalled) => [
    ...stalled.map((row) => settleJob(row)),
    ...(await acceptedOf(tx, stalled)),
  ]);
