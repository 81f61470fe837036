import { insertOutbox } from '../../../shared/events/outbox.ts';
import { count } from '../../../shared/lib/metrics.ts';
import type { Deps } from '../deps.ts';
import { fundJob } from '../transfers/events.ts';
import { claimStalledDevFunds } from './store.ts';

/**
 * Asks again for the test funds that made no progress for 15 s (docs/design/settle.md, rule 16).
 */
export const driveDevFunds =
  ({ pool, relay }: Pick<Deps, 'pool' | 'relay'>) =>
  async (): Promise<void> => {
    const jobs = await pool.transaction(async (tx) => {
      const stalled = await claimStalledDevFunds(tx);
      return insertOutbox(tx, stalled.map(fundJob));
    });
    count('settle.redrives', jobs.length);
    relay.dispatch(jobs);
  };
