import { invalid } from '../../../shared/contract/errors.ts';
import { type FeeRule, feeMicro, netMicro } from '../../../shared/lib/money/fee.ts';
import { parseMicro } from '../../../shared/lib/money/micro.ts';

/**
 * The price of a service in micro-units. A quote must exceed its fee (docs/spec/decisions.md,
 * Quote), so a lower price could never be quoted.
 * @throws ServiceError validation_error that names the fee and the least price
 */
export const parsePrice = (text: string, rule: FeeRule): bigint => {
  const priceMicro = parseMicro(text);
  if (netMicro(priceMicro, rule) > 0n) return priceMicro;
  throw invalid(
    'price',
    `must exceed the fee of ${feeMicro(priceMicro, rule)} micro-units, which you pay out of the price; send at least "${rule.minMicro + 1n}"`,
  );
};
