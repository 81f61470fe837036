import { settleJob } from './events.ts';
import { QUITTANCE } from './quittance-rail.ts';
import { type JobResumeDeps, resumeByJob } from './resume.ts';

/** Resumes payments of quotes without progress. */
export const resumeSettlements = (deps: JobResumeDeps) =>
  resumeByJob(deps, QUITTANCE, (row) => settleJob(row));
