import { deleteOldSpending } from '../../shared/db/budget.ts';
import { everyMs, type Periodic } from '../../shared/lib/periodic.ts';
import { expireFlights } from './broadcast/expiry.ts';
import { startPolling } from './broadcast/poller.ts';
import { rebroadcast } from './broadcast/rebroadcast.ts';
import type { Deps } from './deps.ts';
import { keepAlive, retireWorker } from './intents/store/workers.ts';
import { reconcile } from './intents/sweep.ts';
import { releaseLapsed } from './limits/store/grants.ts';

const SECOND_MS = 1000;
const REBROADCAST_MS = 250;
const HOUR_MS = 3_600_000;

/**
 * Starts what moves intents in the background. Stopping abandons them between two steps: what is signed is
 * committed, and the next worker takes it up from there at once.
 */
export const startEngine = async (deps: Deps, { pollMs }: { pollMs: number }): Promise<Periodic> => {
  const { logger, pool, workerId } = deps;
  // Before the first lease, or another replica would think it dead.
  await keepAlive(pool, workerId);
  const jobs = [
    everyMs(SECOND_MS, 'reconcile', () => reconcile(deps), logger),
    everyMs(REBROADCAST_MS, 'rebroadcast', () => rebroadcast(deps), logger),
    everyMs(SECOND_MS, 'release-lapsed', () => releaseLapsed(pool), logger),
    everyMs(SECOND_MS, 'expire', () => expireFlights(deps), logger),
    everyMs(HOUR_MS, 'delete-old-spending', () => deleteOldSpending(pool), logger),
  ];
  const polling = startPolling(deps, pollMs);
  return {
    stop: async () => {
      await Promise.all(jobs.map((job) => job.stop()));
      await deps.driver.idle();
      await polling.stop();
      await retireWorker(pool, workerId);
    },
  };
};
