import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { getSigningStatus, type SigningDeps } from './signing-status.ts';

/** Returns whether signing is paused, the open intents, and the keys that they need. */
export const getSigning =
  (deps: SigningDeps): Handler<typeof chainSubmitter.internal.getSigning> =>
  () =>
    getSigningStatus(deps);
