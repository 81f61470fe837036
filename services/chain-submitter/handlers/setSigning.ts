import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { recordAction } from '../../../shared/db/operator_actions.ts';
import { presentSigning, type SigningDeps } from '../signing.ts';
import { lockPaused, setPaused } from '../store/settings.ts';

/** Pauses or resumes all signing, with its record in the same commit. Every replica heeds it at its next piece of work. */
export const setSigning =
  (deps: SigningDeps): Handler<typeof chainSubmitter.internal.setSigning> =>
  async ({ paused, ...operator }) => {
    const changed = await deps.pool.transaction(async (tx) => {
      if ((await lockPaused(tx)) === paused) return false;
      await setPaused(tx, paused);
      await recordAction(tx, operator, {
        action: paused ? 'signing.pause' : 'signing.resume',
        target: 'signing',
        before: { paused: !paused },
        after: { paused },
      });
      return true;
    });
    return { changed, signing: await presentSigning(deps) };
  };
