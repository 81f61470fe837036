import type { Pool } from '../../../shared/db/pool.ts';
import type { Periodic } from '../../../shared/lib/periodic.ts';
import { deleteWorker, upsertWorker } from '../ledger/store/workers.ts';
import type { Executor } from './executor.ts';
import { SWEEP_EVERY_MS } from './sweep.ts';

/**
 * Registers this process as a worker and starts its loops. Stopping ends the loops, lets each
 * intent finish its current step and deletes the registration. Signed bytes are committed, so the
 * next worker continues from the tables at once.
 * @param start is called after the registration, because other replicas take over the leases of an
 *   unregistered worker
 */
export const startWorker = async (
  { pool, workerId, executor }: { pool: Pool; workerId: string; executor: Pick<Executor, 'idle'> },
  start: () => { jobs: readonly Periodic[]; poller: Periodic },
): Promise<Periodic> => {
  await upsertWorker(pool, workerId, SWEEP_EVERY_MS);
  const { jobs, poller } = start();
  return {
    stop: async () => {
      await Promise.all(jobs.map((job) => job.stop()));
      await executor.idle();
      await poller.stop();
      await deleteWorker(pool, workerId);
    },
  };
};
