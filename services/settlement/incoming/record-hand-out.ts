import type { Waiting } from '../../../shared/bus/wake.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Outbox } from '../../../shared/events/relay.ts';
import { activeTraceparent } from '../../../shared/lib/telemetry/trace.ts';
import { END_BATCH_WINDOW_MS } from '../record/events.ts';
import type { IncomingGroupCommit } from './store/group-commit.ts';

export type RedeemDeps = { group: Pick<IncomingGroupCommit, 'redeem'>; relay: Outbox; waiting: Waiting };
type Redeem = { settlement_id: string; redeem_id: string; hand_out_id: string | null };

/**
 * Redeems a payment, publishes it, and wakes the calls that wait for its success.
 * @returns false when it is not deliverable, or handed out to another call
 */
export const redeemIncoming = async (
  { group, relay, waiting }: RedeemDeps,
  request: Redeem,
): Promise<boolean> => {
  const redeemed = await group.redeem({ ...request, traceparent: activeTraceparent() });
  if (redeemed === null) return false;
  relay.dispatch([redeemed], { batchWindowMs: END_BATCH_WINDOW_MS });
  waiting.wake(request.settlement_id);
  return true;
};

/** int.settlement.recordHandOut: the vendor has the success, so the payment is redeemed. */
export const recordHandOut =
  (deps: RedeemDeps): Handler<typeof settlement.internal.recordHandOut> =>
  async ({ settlement_id, hand_out_id }) => ({
    redeemed: await redeemIncoming(deps, { settlement_id, redeem_id: hand_out_id, hand_out_id }),
  });
