import type { Pool } from '../../../shared/db/pool.ts';
import { insertOutbox } from '../../../shared/events/outbox.ts';
import type { Relay } from '../../../shared/events/relay.ts';
import { count } from '../../../shared/lib/metrics.ts';
import { settleJob } from './events.ts';
import { claimStalled } from './store/dispatch.ts';

const BATCH = 50;

/**
 * Dispatches the job of a payment without progress again (rule 16). The queue may lose, delay or
 * repeat a job; this database has the record.
 */
export const resumeSettlements =
  ({ pool, relay }: { pool: Pool; relay: Relay }) =>
  async (): Promise<boolean> => {
    const rows = await pool.transaction(async (tx) => {
      const stalled = await claimStalled(tx, BATCH);
      return stalled.length === 0
        ? []
        : insertOutbox(
            tx,
            stalled.map((row) => settleJob(row)),
          );
    });
    count('quittance_redispatches_total', rows.length);
    relay.dispatch(rows);
    return rows.length > 0;
  };
