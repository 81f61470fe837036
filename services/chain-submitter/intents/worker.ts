import type { Pool } from '../../../shared/db/pool.ts';
import type { Periodic } from '../../../shared/lib/periodic.ts';
import type { Executor } from './executor.ts';
import { upsertWorker, deleteWorker } from './store/workers.ts';

/**
 * Registers this process as a worker and starts its loops. Stopping ends the loops, lets each intent finish its present
 * step and removes the registration. Signed bytes are committed, so the next worker continues from the tables at once.
 * @param start starts the loops. It is called after the registration, because other replicas would take a worker that
 * holds leases without a registration for dead
 */
export const startWorker = async (
  { pool, workerId, executor }: { pool: Pool; workerId: string; executor: Pick<Executor, 'idle'> },
  start: () => { jobs: readonly Periodic[]; poller: Periodic },
): Promise<Periodic> => {
  await upsertWorker(pool, workerId);
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
