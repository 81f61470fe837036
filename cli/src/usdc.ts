import { parseUsdc } from '../../sdk/src/generated/usdc.ts';
import { UsageError } from './errors.ts';

/**
 * An option in USDC, `0.10` or `5`, as the micro-units of the API.
 * @param name of the option, for the error
 * @throws UsageError if it is not a positive amount with at most six decimals
 */
export const microOption = (text: string, name: string): string => {
  const micro = parseUsdc(text);
  if (micro === null) throw new UsageError(`${name}: "${text}" is not an amount in USDC, like 0.10 or 5`);
  return micro.toString();
};
