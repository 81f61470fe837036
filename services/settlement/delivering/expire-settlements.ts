import type { Pool } from '../../../shared/db/pool.ts';
import type { Outbox } from '../../../shared/events/relay.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import { recordExpired } from '../record/store/expire.ts';

const BATCH = 500;

/** Marks settlements `expired` within seconds of their window's end. The vendor keeps the funds. */
export const expireSettlements =
  ({ pool, relay }: { pool: Pool; relay: Outbox }) =>
  async (): Promise<void> => {
    let expired: number;
    do {
      const outbox = await recordExpired(pool, BATCH);
      relay.dispatch(outbox);
      expired = outbox.length;
      count('quittance_expired_unredeemed_total', expired);
    } while (expired === BATCH);
  };
