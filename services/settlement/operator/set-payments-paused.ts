import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { isoTimeOrNull } from '../../../shared/lib/clock.ts';
import { changeByOperator } from '../../../shared/operator/actions.ts';
import { describeIntake } from './intake.ts';
import { lockPausedAt, updatePausedAt } from './store.ts';

/** settlement.setPaymentsPaused: pauses or resumes payments, on every replica within 1 s. */
export const setPaymentsPaused =
  ({ pool }: { pool: Pool }): Handler<typeof settlement.internal.setPaymentsPaused> =>
  async ({ paused, ...operator }) => {
    const { changed, state } = await changeByOperator(pool, operator, {
      action: paused ? 'intake.pause' : 'intake.resume',
      target: 'intake',
      lock: lockPausedAt,
      isSo: (pausedAt) => (pausedAt !== null) === paused,
      change: (tx) => updatePausedAt(tx, paused),
      show: (pausedAt) => ({ paused_at: isoTimeOrNull(pausedAt) }),
    });
    return { changed, intake: await describeIntake(pool, state) };
  };
