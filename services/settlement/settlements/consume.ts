import { conflict, ServiceError } from '../../../shared/contract/errors.ts';
import type { Environment } from '../../../shared/contract/primitives.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { batched } from '../../../shared/db/batched.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Relay } from '../../../shared/events/relay.ts';
import type { PublicKeys } from '../../../shared/lib/keys.ts';
import { count, record } from '../../../shared/lib/metrics.ts';
import { activeTraceparent } from '../../../shared/lib/trace.ts';
import { END_BATCH_WINDOW_MS } from './events.ts';
import { consumeRefusal } from './model/prepaid-units.ts';
import { ownSettlement } from './settlement-token.ts';
import { recordConsumptions, type ConsumeRequest, findConsumable } from './store/consumptions.ts';

/** POST /v1/settlements/:settlement_id/consume: many small deliveries on one payment, each counted once. */
export const consume = (deps: {
  pool: Pool;
  relay: Relay;
  environment: Environment;
  publicKeys: PublicKeys;
}): Handler<typeof settlement.operations.consume> => {
  const once = batched((draws: readonly ConsumeRequest[]) => recordConsumptions(deps.pool, draws), {
    keysOf: ({ settlement_id }) => [settlement_id],
  });
  const tokens = { env: deps.environment, keys: deps.publicKeys };
  return async ({ settlement_id, settlement_token, units, request_id }, { service_id }) => {
    const asked = { settlement_id, service_id, settlement_token };
    const request = { settlementId: settlement_id, serviceId: service_id, requestId: request_id };
    const answer = (consumed: number, total: number) => ({
      settlement_id,
      units_consumed: consumed,
      units_remaining: total - consumed,
    });

    const taken = await once({ ...asked, request_id, units, traceparent: activeTraceparent() });
    if (taken !== null) {
      deps.relay.dispatch(taken.told, { batchWindowMs: END_BATCH_WINDOW_MS });
      if (taken.told.length > 0)
        record('quittance_redeem_latency_seconds', (taken.redeemed_at - taken.issued_at) / 1000);
      return answer(taken.units_consumed, taken.units_total);
    }
    const row = ownSettlement(asked, await findConsumable(deps.pool, request), tokens);
    if (row.known_consumed !== null && row.units_total !== null) {
      if (row.known_units !== units) throw conflict('this request_id took another number of units');
      count('quittance_idempotent_replays_total', 1, { operation: 'consume' });
      return answer(row.known_consumed, row.units_total);
    }
    const { status, chain_status: chain, elapsed, closed } = row;
    const refusal = consumeRefusal(
      {
        status,
        chain,
        elapsed,
        closed,
        unitsTotal: row.units_total,
        unitsConsumed: row.units_consumed,
        reservedMicro: row.refund_reserved,
      },
      units,
    );
    if (refusal !== null) throw new ServiceError(refusal.code, refusal.message);
    throw new ServiceError('service_unavailable', 'the settlement has just changed; repeat the call', {
      retryAfterSeconds: 1,
    });
  };
};
