import type { Records } from '../../../shared/boot.ts';
import { conflict, ServiceError } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { batched } from '../../../shared/db/batched.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { count, record } from '../../../shared/lib/telemetry/metrics.ts';
import { activeTraceparent } from '../../../shared/lib/telemetry/trace.ts';
import { END_BATCH_WINDOW_MS } from '../record/events.ts';
import { checkToken } from '../record/settlement-token.ts';
import { type RedeemRequest, recordRedeems } from '../record/store/redeem.ts';
import { findSettlementInScope } from '../record/store/settlements.ts';
import type { ServiceTerms } from '../terms.ts';

const REFUNDED = 'the whole net amount is refunded, or a refund of it is under way';
const REFUSED = {
  pending: 'the payment is not confirmed yet',
  authorized:
    'nothing is paid yet: report what is used with usage, and capture it; an authorization is never redeemed by itself',
  capturing: 'the capture is not confirmed yet; it redeems the settlement',
  voided: 'the authorization was voided, and nothing was paid',
  issued: 'the payment is being confirmed again after a fork of the chain: redeem again in a moment',
  failed: 'the payment failed',
};

/** POST /v1/settlements/:settlement_id/redeem: succeeds once per settlement. */
export const redeem = (
  deps: Pick<Records, 'pool' | 'relay'> & Pick<ServiceTerms, 'environment' | 'publicKeys'>,
): Handler<typeof settlement.operations.redeem> => {
  const redeemOne = batched((requests: readonly RedeemRequest[]) => recordRedeems(deps.pool, requests), {
    keysOf: ({ settlement_id }) => [settlement_id],
  });
  const tokens = { env: deps.environment, keys: deps.publicKeys };
  return async ({ settlement_id, settlement_token, redeem_id = null }, { service_id }) => {
    const answer = (redeemedAt: number, redeemId: string | null, replayed: boolean) => ({
      settlement_id,
      status: 'redeemed' as const,
      redeemed_at: isoTime(redeemedAt),
      redeem_id: redeemId,
      replayed,
    });
    const request = { settlement_id, service_id, settlement_token };
    const redeemed = await redeemOne({ ...request, redeem_id, traceparent: activeTraceparent() });
    if (redeemed !== null) {
      deps.relay.dispatch([redeemed], { batchWindowMs: END_BATCH_WINDOW_MS });
      record('quittance_redeem_latency_seconds', (redeemed.redeemed_at - redeemed.issued_at) / 1000);
      return answer(redeemed.redeemed_at, redeem_id, false);
    }
    // The statement refused. The reason follows, in the rank order of the checks.
    const scope = { as: 'service', service_id } as const;
    const row = checkToken(request, await findSettlementInScope(deps.pool, scope, settlement_id), tokens);
    if (row.status === 'redeemed') {
      count('quittance_idempotent_replays_total', 1, { operation: 'redeem' });
      return answer(row.redeemed_at!, row.redeem_id, true);
    }
    if (row.status === 'expired' || (row.status === 'issued' && row.elapsed)) {
      throw new ServiceError('settlement_expired', 'the redeem window has elapsed');
    }
    const isRefunded = row.status === 'issued' && row.chain_status !== 'pending';
    throw conflict(isRefunded ? REFUNDED : REFUSED[row.status]);
  };
};
