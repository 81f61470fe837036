import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { changeByOperator } from '../../../shared/operator/actions.ts';
import { lockPaused, updatePaused } from '../ledger/store/settings.ts';
import { getSigningStatus, type SigningDeps } from './signing-status.ts';

/** Pauses or resumes all signing. Every replica applies it to its next intent. */
export const setSigningPaused =
  (deps: SigningDeps): Handler<typeof chainSubmitter.internal.setSigningPaused> =>
  async ({ paused, ...operator }) => {
    const { changed } = await changeByOperator(deps.pool, operator, {
      action: paused ? 'signing.pause' : 'signing.resume',
      target: 'signing',
      lock: lockPaused,
      isSo: (before) => before === paused,
      change: (tx) => updatePaused(tx, paused),
      show: (state) => ({ paused: state }),
    });
    return { changed, signing: await getSigningStatus(deps) };
  };
