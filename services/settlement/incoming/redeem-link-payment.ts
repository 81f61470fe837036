import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { activeTraceparent } from '../../../shared/lib/telemetry/trace.ts';
import { END_BATCH_WINDOW_MS } from '../record/events.ts';
import { recordRedeems } from '../record/store/redeem.ts';
import { findSettlement, type SettlementRow } from '../record/store/settlements.ts';
import { type RedeemDeps, redeemIncoming } from './record-hand-out.ts';

type Deps = RedeemDeps & { pool: Pool };

const redeem = async (deps: Deps, row: SettlementRow, redeemId: string): Promise<boolean> => {
  const { settlement_id, service_id, settlement_token } = row;
  if (row.rail !== 'quittance')
    return redeemIncoming(deps, { settlement_id, redeem_id: redeemId, hand_out_id: null });
  const [redeemed] = await recordRedeems(deps.pool, [
    {
      settlement_id,
      service_id: service_id!,
      settlement_token: settlement_token!,
      redeem_id: redeemId,
      traceparent: activeTraceparent(),
    },
  ]);
  if (redeemed) deps.relay.dispatch([redeemed], { batchWindowMs: END_BATCH_WINDOW_MS });
  return Boolean(redeemed);
};

/** int.settlement.redeemLinkPayment: redeems for the vendor of a payment link. */
export const redeemLinkPayment =
  (deps: Deps): Handler<typeof settlement.internal.redeemLinkPayment> =>
  async ({ settlement_id, quote_id }) => {
    const row = await findSettlement(deps.pool, settlement_id);
    if (row === null || row.quote_id !== quote_id || row.status !== 'issued') return { done: true };
    if (await redeem(deps, row, quote_id)) return { done: true };
    // Confirmed, but not redeemable: the whole amount is refunded, or its window has elapsed.
    return { done: row.chain_status !== 'pending' };
  };
