import type { Deps } from '../deps.ts';
import { purgeEvents } from '../store/events.ts';

const BATCH = 1000;

/** Removes events, with their deliveries, that are older than they are kept. Any number of replicas may run it. */
export const purge =
  ({ pool }: Pick<Deps, 'pool'>) =>
  async (): Promise<void> => {
    while ((await purgeEvents(pool, BATCH)) === BATCH);
  };
