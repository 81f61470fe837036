import type { Records } from '../../../shared/boot.ts';
import { conflict, ServiceError } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { count, record } from '../../../shared/lib/telemetry/metrics.ts';
import { activeTraceparent } from '../../../shared/lib/telemetry/trace.ts';
import { END_BATCH_WINDOW_MS } from '../record/events.ts';
import { consumeRefusal } from '../record/model/prepaid-units.ts';
import { checkToken } from '../record/settlement-token.ts';
import { type ConsumableRow, findConsumable } from '../record/store/consumptions.ts';
import type { ServiceTerms } from '../terms.ts';
import type { RecordUses } from './record-uses.ts';

/** The refusal of a request whose row changed between the statement and the read of the reason. */
export const justChanged = (): ServiceError =>
  new ServiceError('service_unavailable', 'the settlement has just changed; repeat the call', {
    retryAfterSeconds: 1,
  });

/** The reason why the statement refused, in the rank order of the checks. */
const refusalError = (row: ConsumableRow, units: number): ServiceError => {
  const refusal = consumeRefusal(
    {
      status: row.status,
      chain: row.chain_status,
      elapsed: row.elapsed,
      closed: row.closed,
      unitsTotal: row.units_total,
      unitsConsumed: row.units_consumed,
      reservedMicro: row.refund_reserved,
    },
    units,
  );
  return refusal === null ? justChanged() : new ServiceError(refusal.code, refusal.message);
};

/**
 * POST /v1/settlements/:settlement_id/consume: many deliveries on one payment, each counted once.
 */
export const consume = (
  deps: Pick<Records, 'pool' | 'relay'> &
    Pick<ServiceTerms, 'environment' | 'publicKeys'> & { recordUses: RecordUses },
): Handler<typeof settlement.operations.consume> => {
  const tokens = { env: deps.environment, keys: deps.publicKeys };
  return async ({ settlement_id, settlement_token, units, request_id }, { service_id }) => {
    const of = { settlement_id, service_id, settlement_token };
    const request = { ...of, uses: [{ request_id, amount: String(units) }] };
    const answer = (consumed: bigint | string, unitsTotal: number) => ({
      settlement_id,
      units_consumed: Number(consumed),
      units_remaining: unitsTotal - Number(consumed),
    });

    const consumed = await deps.recordUses({
      ...request,
      event: 'consume',
      traceparent: activeTraceparent(),
    });
    if (consumed !== null) {
      deps.relay.dispatch(consumed.events, { batchWindowMs: END_BATCH_WINDOW_MS });
      if (consumed.events.length > 0)
        record('quittance_redeem_latency_seconds', (consumed.redeemed_at! - consumed.issued_at!) / 1000);
      return answer(consumed.units_consumed, consumed.units_total!);
    }
    const row = checkToken(of, await findConsumable(deps.pool, request), tokens);
    const [earlier] = row.earlier;
    if (earlier !== undefined && row.units_total !== null) {
      if (earlier.units !== String(units)) throw conflict('this request_id consumed another number of units');
      count('quittance_idempotent_replays_total', 1, { operation: 'consume' });
      return answer(earlier.units_consumed, row.units_total);
    }
    throw refusalError(row, units);
  };
};
