import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { isoTimeOrNull } from '../../../shared/lib/clock.ts';
import { changeByOperator } from '../../../shared/operator/actions.ts';
import type { Deps } from '../deps.ts';
import { presentIntake } from '../intake.ts';
import { lockPausedSince, setPaused } from '../store/settling.ts';

/** Internal: pauses or resumes payments. Every replica heeds it within 1 s. */
export const setIntakePaused =
  ({ pool }: Pick<Deps, 'pool'>): Handler<typeof settlement.internal.setIntakePaused> =>
  async ({ paused, ...operator }) => {
    const { changed, state } = await changeByOperator(pool, operator, {
      action: paused ? 'intake.pause' : 'intake.resume',
      target: 'intake',
      lock: lockPausedSince,
      isSo: (pausedAt) => (pausedAt !== null) === paused,
      change: (tx) => setPaused(tx, paused),
      show: (pausedAt) => ({ paused_at: isoTimeOrNull(pausedAt) }),
    });
    return { changed, intake: await presentIntake(pool, state) };
  };
