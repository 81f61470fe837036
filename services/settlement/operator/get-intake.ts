import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { describeIntake } from './intake.ts';
import { getPausedAt } from './store.ts';

/** settlement.getIntake: whether payments are paused. */
export const getIntake =
  ({ pool }: { pool: Pool }): Handler<typeof settlement.internal.getIntake> =>
  async () =>
    describeIntake(pool, await getPausedAt(pool));
