import type { z } from 'zod';
import type { Records } from '../../../shared/boot.ts';
import { conflict, invalid } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { batched } from '../../../shared/db/batched.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import { microOf, picoOf } from '../../../shared/lib/money/pico.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import { justChanged } from '../delivering/consume.ts';
import { notAuthorized, usageRefusal } from '../record/model/authorization.ts';
import { checkToken } from '../record/settlement-token.ts';
import { findUsable, recordUses, type UsableRow, type Use, type UseRequest } from '../record/store/uses.ts';
import type { ServiceTerms } from '../terms.ts';
import { stateOf } from './end-authorization.ts';

type Input = z.infer<typeof settlement.operations.usage.input>;
type Reported = NonNullable<Input['usages']>[number];

const useOf = ({ usage_id, amount, units, reason }: Reported, path: string): Use => {
  if ((amount === undefined) === (units === undefined))
    throw invalid(`${path}amount`, 'send either amount or units, not both and not neither');
  return { usage_id, amount, units, reason };
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

type AuthorizedRow = UsableRow & { ceiling: bigint; used: bigint };
const isAuthorization = (row: UsableRow): row is AuthorizedRow => row.ceiling !== null;

/** The picodollars of a use. @throws ServiceError conflict for units without a price */
const amountOf = (
  { amount, units }: Use,
  { unit_price_pico }: Pick<UsableRow, 'unit_price_pico'>,
): bigint => {
  if (amount !== undefined) return picoOf(BigInt(amount));
  if (unit_price_pico === null)
    throw conflict('the quote has no unit_price; report amounts instead of units');
  return BigInt(units!) * unit_price_pico;
};

/**
 * What a call that recorded nothing is answered: the totals of its first call, if all its uses were
 * recorded before with the same amounts. Once the uses are forgotten, the total of the
 * authorization, which has ended: a call for no more than that may be a repeat.
 * @throws ServiceError the reason why nothing was recorded
 */
const repeatedTotal = (row: AuthorizedRow, uses: readonly Use[]): bigint => {
  const earlier = new Map(row.earlier.map((each) => [each.usage_id, each]));
  let wanted = 0n;
  let last = 0n;
  for (const use of uses) {
    const found = earlier.get(use.usage_id);
    const amount = amountOf(use, row);
    if (found === undefined) wanted += amount;
    else if (BigInt(found.amount_pico) !== amount)
      throw conflict(`the usage_id ${use.usage_id} was used with another amount`);
    else if (BigInt(found.used_after_pico) > last) last = BigInt(found.used_after_pico);
  }
  if (wanted === 0n) return microOf(last);
  if (row.forgotten && microOf(wanted) <= row.used) return row.used;
  throw usageRefusal(stateOf(row), microOf(wanted)) ?? justChanged();
};

/** POST /v1/settlements/:settlement_id/usage: what was used of an authorization, each use once. */
export const usage = (
  deps: Pick<Records, 'pool'> & Pick<ServiceTerms, 'environment' | 'publicKeys'>,
): Handler<typeof settlement.operations.usage> => {
  const tokens = { env: deps.environment, keys: deps.publicKeys };
  const record = batched((requests: readonly UseRequest[]) => recordUses(deps.pool, requests), {
    keysOf: ({ settlement_id }) => [settlement_id],
  });
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
    const recorded = await record({ ...of, uses });
    if (recorded !== null) return answer(recorded.ceiling, recorded.used);
    const row = checkToken(of, await findUsable(deps.pool, { ...of, uses }), tokens);
    if (!isAuthorization(row)) throw notAuthorized();
    const total = repeatedTotal(row, uses);
    count('quittance_idempotent_replays_total', 1, { operation: 'usage' });
    return answer(row.ceiling, total);
  };
};
