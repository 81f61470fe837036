import type { z } from 'zod';
import type { Records } from '../../../shared/boot.ts';
import { conflict, invalid } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import { activeTraceparent } from '../../../shared/lib/telemetry/trace.ts';
import { justChanged } from '../delivering/consume.ts';
import type { RecordUses } from '../delivering/record-uses.ts';
import { usageRefusal } from '../record/model/authorization.ts';
import { checkToken } from '../record/settlement-token.ts';
import { type ConsumableRow, findConsumable, type Use } from '../record/store/consumptions.ts';
import type { ServiceTerms } from '../terms.ts';

type Input = z.infer<typeof settlement.operations.usage.input>;
type Reported = NonNullable<Input['usages']>[number];

const useOf = ({ usage_id, amount, units, reason }: Reported, path: string): Use => {
  if ((amount === undefined) === (units === undefined))
    throw invalid(`${path}amount`, 'send either amount or units, not both and not neither');
  return { request_id: usage_id, amount, units, reason };
};

/**
 * The uses of a call: those of `usages`, or the one of its fields.
 * @throws ServiceError validation_error
 */
const usesOf = ({ usage_id, amount, units, reason, usages }: Input): Use[] => {
  if (usages === undefined) {
    if (usage_id === undefined) throw invalid('usage_id', 'is required, unless usages has several');
    return [useOf({ usage_id, amount, units, reason }, '')];
  }
  const other = Object.entries({ usage_id, amount, units, reason }).find(([, value]) => value !== undefined);
  if (other !== undefined) throw invalid(other[0], 'belongs into usages, which has all uses of the call');
  if (new Set(usages.map((each) => each.usage_id)).size < usages.length)
    throw invalid('usages', 'has a usage_id twice; each use needs its own');
  return usages.map((each, index) => useOf(each, `usages.${index}.`));
};

/** The micro-units of a use. @throws ServiceError conflict for units without a price */
const amountOf = ({ amount, units }: Use, { unit_price }: ConsumableRow): bigint => {
  if (amount !== undefined) return BigInt(amount);
  if (unit_price === null) throw conflict('the quote has no unit_price; report amounts instead of units');
  return BigInt(units!) * unit_price;
};

/**
 * What a call that recorded nothing is answered: the totals of its first call, if all its uses were
 * recorded before with the same amounts.
 * @throws ServiceError the reason why nothing was recorded
 */
const repeatedTotal = (row: ConsumableRow, uses: readonly Use[]): bigint => {
  const earlier = new Map(row.earlier.map((each) => [each.request_id, each]));
  const isOpen = row.max_amount !== null;
  let wanted = 0n;
  let last = 0n;
  for (const use of uses) {
    const found = isOpen ? earlier.get(use.request_id) : undefined;
    const amount = isOpen ? amountOf(use, row) : 0n;
    if (found === undefined) wanted += amount;
    else if (BigInt(found.units) !== amount)
      throw conflict(`the usage_id ${use.request_id} was used with another amount`);
    else if (BigInt(found.units_consumed) > last) last = BigInt(found.units_consumed);
  }
  if (isOpen && wanted === 0n) return last;
  const refusal = usageRefusal(
    {
      status: row.status,
      maxMicro: row.max_amount,
      usedMicro: row.units_consumed,
      usable: row.usable,
      isAtRisk: row.at_risk_at !== null,
    },
    wanted,
  );
  throw refusal ?? justChanged();
};

/** POST /v1/settlements/:settlement_id/usage: what was used of an authorization, each use once. */
export const usage = (
  deps: Pick<Records, 'pool'> & Pick<ServiceTerms, 'environment' | 'publicKeys'> & { recordUses: RecordUses },
): Handler<typeof settlement.operations.usage> => {
  const tokens = { env: deps.environment, keys: deps.publicKeys };
  return async (input, { service_id }) => {
    const { settlement_id, settlement_token } = input;
    const uses = usesOf(input);
    const of = { settlement_id, service_id, settlement_token };
    const answer = (max: bigint, used: bigint) => ({
      settlement_id,
      max_amount: formatMicro(max),
      used: formatMicro(used),
      left: formatMicro(max - used),
    });
    const recorded = await deps.recordUses({ ...of, uses, event: 'use', traceparent: activeTraceparent() });
    if (recorded !== null) {
      return answer(recorded.max_amount!, recorded.units_consumed);
    }
    const row = checkToken(of, await findConsumable(deps.pool, { ...of, uses }), tokens);
    const total = repeatedTotal(row, uses);
    count('quittance_idempotent_replays_total', 1, { operation: 'usage' });
    return answer(row.max_amount!, total);
  };
};
