import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { recordAction } from '../../../shared/db/operator_actions.ts';
import { isoTimeOrNull } from '../../../shared/lib/clock.ts';
import type { Deps } from '../deps.ts';
import { presentSettling } from '../settling.ts';
import { lockPausedSince, setPaused } from '../store/settling.ts';

/** Internal: pauses or resumes taking new payments, with its record in the same commit. Every replica heeds it within 1 s. */
export const setSettling =
  ({ pool }: Pick<Deps, 'pool'>): Handler<typeof settlement.internal.setSettling> =>
  ({ paused, ...operator }) =>
    pool.transaction(async (tx) => {
      const before = await lockPausedSince(tx);
      if ((before !== null) === paused)
        return { changed: false, settling: await presentSettling(tx, before) };
      const after = await setPaused(tx, paused);
      await recordAction(tx, operator, {
        action: paused ? 'settling.pause' : 'settling.resume',
        target: 'settling',
        before: { paused_at: isoTimeOrNull(before) },
        after: { paused_at: isoTimeOrNull(after) },
      });
      return { changed: true, settling: await presentSettling(tx, after) };
    });
