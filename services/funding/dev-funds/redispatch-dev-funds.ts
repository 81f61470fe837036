import type { Pool } from '../../../shared/db/pool.ts';
import { insertOutbox } from '../../../shared/events/outbox.ts';
import type { Outbox } from '../../../shared/events/relay.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import { fundJob } from './events.ts';
import { claimStalledDevFunds } from './store.ts';

/**
 * Dispatches the job again for test funds that made no progress for 15 s (docs/design/settle.md,
 * rule 16).
 */
export const redispatchDevFunds =
  ({ pool, relay }: { pool: Pool; relay: Outbox }) =>
  async (): Promise<boolean> => {
    const jobs = await pool.transaction(async (tx) => {
      const stalled = await claimStalledDevFunds(tx);
      return insertOutbox(tx, stalled.map(fundJob));
    });
    count('quittance_redispatches_total', jobs.length);
    relay.dispatch(jobs);
    return jobs.length > 0;
  };
