import type { Deps } from '../deps.ts';
import { forgetSecrets } from '../endpoints/store.ts';
import { purgeEvents } from './store.ts';

const BATCH = 1000;

/** Removes events, with their deliveries, that are older than they are kept, and secrets whose overlap is over. Any number of replicas may run it. */
export const purge =
  ({ pool }: Pick<Deps, 'pool'>) =>
  async (): Promise<void> => {
    await forgetSecrets(pool);
    while ((await purgeEvents(pool, BATCH)) === BATCH);
  };
