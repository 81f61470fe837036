import type { Waiting } from '../../../shared/bus/wake.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Relay } from '../../../shared/events/relay.ts';
import { END_BATCH_WINDOW_MS } from '../settlements/events.ts';
import { recordForeignRedeem } from '../settlements/store/foreign-payments.ts';

/** int.settlement.recordHandOut: the vendor has heard the success, so the payment is redeemed. */
export const recordHandOut =
  ({
    pool,
    relay,
    waiting,
  }: {
    pool: Pool;
    relay: Relay;
    waiting: Waiting;
  }): Handler<typeof settlement.internal.recordHandOut> =>
  async ({ settlement_id, hand_out_id }) => {
    const redeemed = await recordForeignRedeem(pool, settlement_id, {
      redeemId: hand_out_id,
      handOutId: hand_out_id,
    });
    if (redeemed === null) return { redeemed: false };
    relay.dispatch([redeemed], { batchWindowMs: END_BATCH_WINDOW_MS });
    waiting.wake(settlement_id);
    return { redeemed: true };
  };
