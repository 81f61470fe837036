import type { Waiting } from '../../../shared/bus/wake.ts';
import type { Progress } from '../../../shared/contract/chain-submitter.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { transitionPreparation } from './store/preparations.ts';
import { wakeKey } from './wake-key.ts';

/** Records the progress of a preparation and wakes the call that waits for it. */
export const delegationProgressed =
  ({ pool, waiting }: { pool: Pool; waiting: Pick<Waiting, 'wake'> }) =>
  async (progress: Progress): Promise<void> => {
    await transitionPreparation(pool, progress);
    waiting.wake(wakeKey(progress.object_id));
  };
