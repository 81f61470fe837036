import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { sightOfAttempt } from '../attempt-sight.ts';
import type { Deps } from '../deps.ts';

/** Internal: all that is known of an attempt, and what the chain proves about it. */
export const getAttemptReport =
  (deps: Deps): Handler<typeof chainSubmitter.internal.getAttemptReport> =>
  (attempt) =>
    sightOfAttempt(deps, attempt);
