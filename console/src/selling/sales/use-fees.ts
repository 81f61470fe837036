import { useRead } from '../../api/data.ts';
import { typedUsdc } from '../../lib/money.ts';
import type { Fee } from './price-fees.ts';

/**
 * The fees of typed prices, by the price in micro-units. The API computes them, so that there is
 * one rule. A price that is no amount, or whose fee has not been read yet, is not there.
 */
export const useFees = (typed: readonly string[]): ReadonlyMap<string, Fee> => {
  const micros = typed.map((each) => typedUsdc(each)).filter((each) => each !== null);
  const prices = [...new Set(micros)].map(String);
  const fees = useRead(
    ['fee', ...prices],
    (client, options) => Promise.all(prices.map((price) => client.identity.showFee({ price }, options))),
    { enabled: prices.length > 0 },
  ).data;
  return new Map(fees?.map((fee, at) => [prices[at]!, fee]));
};
