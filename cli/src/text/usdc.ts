import { microOf, typedFault } from '../../../sdk/src/amounts.ts';
import { UsageError } from '../errors.ts';

/**
 * An option in USDC, `0.10` or `$5`, as the micro-units of the API.
 * @param name of the option, for the error
 * @throws UsageError if it is not a positive amount with at most six decimals
 */
export const microOption = (text: string, name: string): string => {
  const fault = typedFault(text);
  if (fault !== null) throw new UsageError(`${name} "${text}": ${fault}`);
  return microOf(text).toString();
};
