import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { sightOfAttempt } from './attempt-report.ts';

/** Internal: all that is known of an attempt, and what the chain proves about it. */
export const observeAttempt =
  (deps: Deps): Handler<typeof chainSubmitter.internal.observeAttempt> =>
  (attempt) =>
    sightOfAttempt(deps, attempt);
