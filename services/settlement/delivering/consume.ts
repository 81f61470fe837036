import type { Records } from '../../../shared/boot.ts';
import { conflict, ServiceError } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { batched } from '../../../shared/db/batched.ts';
import { count, record } from '../../../shared/lib/telemetry/metrics.ts';
import { activeTraceparent } from '../../../shared/lib/telemetry/trace.ts';
import { END_BATCH_WINDOW_MS } from '../record/events.ts';
import { consumeRefusal } from '../record/model/prepaid-units.ts';
import { checkToken } from '../record/settlement-token.ts';
import {
  type ConsumableRow,
  type ConsumeRequest,
  findConsumable,
  recordConsumptions,
} from '../record/store/consumptions.ts';
import type { ServiceTerms } from '../terms.ts';

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
 * What a request that consumed nothing is answered: the units after its first call. Once the
 * requests are forgotten, all units that were consumed, of which no more can be: a request for no
 * more than that may be a repeat.
 * @returns null: it is no repeat
 * @throws ServiceError conflict for another number of units
 */
const repeatedTotal = (row: ConsumableRow, units: number): bigint | null => {
  const { earlier_units, earlier_consumed, forgotten, units_consumed } = row;
  if (earlier_units === null) return forgotten && BigInt(units) <= units_consumed ? units_consumed : null;
  if (earlier_units !== BigInt(units)) throw conflict('this request_id consumed another number of units');
  return earlier_consumed;
};

/**
 * POST /v1/settlements/:settlement_id/consume: many deliveries on one payment, each counted once.
 */
export const consume = (
  deps: Pick<Records, 'pool' | 'relay'> & Pick<ServiceTerms, 'environment' | 'publicKeys'>,
): Handler<typeof settlement.operations.consume> => {
  const tokens = { env: deps.environment, keys: deps.publicKeys };
  const recordOne = batched(
    (requests: readonly ConsumeRequest[]) => recordConsumptions(deps.pool, requests),
    {
      keysOf: ({ settlement_id }) => [settlement_id],
    },
  );
  return async ({ settlement_id, settlement_token, units, request_id }, { service_id }) => {
    const of = { settlement_id, service_id, settlement_token };
    const answer = (consumed: bigint, unitsTotal: number) => ({
      settlement_id,
      units_consumed: Number(consumed),
      units_remaining: unitsTotal - Number(consumed),
    });

    const consumed = await recordOne({ ...of, request_id, units, traceparent: activeTraceparent() });
    if (consumed !== null) {
      deps.relay.dispatch(consumed.events, { batchWindowMs: END_BATCH_WINDOW_MS });
      if (consumed.events.length > 0)
        record('quittance_redeem_latency_seconds', (consumed.redeemed_at - consumed.issued_at) / 1000);
      return answer(consumed.units_consumed, consumed.units_total);
    }
    const row = checkToken(of, await findConsumable(deps.pool, { ...of, request_id }), tokens);
    const repeated = repeatedTotal(row, units);
    if (repeated === null || row.units_total === null) throw refusalError(row, units);
    count('quittance_idempotent_replays_total', 1, { operation: 'consume' });
    return answer(repeated, row.units_total);
  };
};
