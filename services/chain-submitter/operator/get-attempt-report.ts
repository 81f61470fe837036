import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { type AttemptReportDeps, reportAttempt } from './attempt-report.ts';

/** Returns everything known about an attempt, and what the chain proves about it. */
export const getAttemptReport =
  (deps: AttemptReportDeps): Handler<typeof chainSubmitter.internal.getAttemptReport> =>
  (attempt) =>
    reportAttempt(deps, attempt);
