import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { getSigningStatus, type SigningDeps } from './signing-status.ts';

/** Whether anything is signed, what is under way and by which keys, for an operator. */
export const getSigning =
  (deps: SigningDeps): Handler<typeof chainSubmitter.internal.getSigning> =>
  () =>
    getSigningStatus(deps);
