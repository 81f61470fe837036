import { settleJob } from './events.ts';
import { QUITTANCE } from './quittance-rail.ts';
import { resumeByJob } from './resume.ts';

/** Resumes payments of quotes without progress. */
export const resumeSettlements = (deps: Parameters<typeof resumeByJob>[0]) =>
  resumeByJob(deps, QUITTANCE, (row) => settleJob(row));
