import type { Pool } from '../../../shared/db/pool.ts';
import { insertOutbox } from '../../../shared/events/outbox.ts';
import type { Relay } from '../../../shared/events/relay.ts';
import { count } from '../../../shared/lib/metrics.ts';
import { settleJob } from './events.ts';
import { claimStalled } from './store/dispatch.ts';

const BATCH = 50;

/** Drives again what makes no progress (rule 16): whatever the queue lost, hid or repeated, the record is here. */
export const resumeSettlements =
  ({ pool, relay }: { pool: Pool; relay: Relay }) =>
  async (): Promise<void> => {
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
  };
