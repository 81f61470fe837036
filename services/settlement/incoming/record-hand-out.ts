import type { Waiting } from '../../../shared/bus/wake.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Outbox } from '../../../shared/events/relay.ts';
import { activeTraceparent } from '../../../shared/lib/trace.ts';
import { END_BATCH_WINDOW_MS } from '../settlements/events.ts';
import type { IncomingGroupCommit } from './group-commit.ts';

/** int.settlement.recordHandOut: the vendor has the success, so the payment is redeemed. */
export const recordHandOut =
  ({
    group,
    relay,
    waiting,
  }: {
    group: Pick<IncomingGroupCommit, 'redeem'>;
    relay: Outbox;
    waiting: Waiting;
  }): Handler<typeof settlement.internal.recordHandOut> =>
  async ({ settlement_id, hand_out_id }) => {
    const redeemed = await group.redeem({
      settlement_id,
      redeem_id: hand_out_id,
      hand_out_id,
      traceparent: activeTraceparent(),
    });
    if (redeemed === null) return { redeemed: false };
    relay.dispatch([redeemed], { batchWindowMs: END_BATCH_WINDOW_MS });
    waiting.wake(settlement_id);
    return { redeemed: true };
  };
