import { UsageError } from './errors.ts';

const DECIMALS = 6;
/** The longest amount of the API: 20 digits of micro-units. */
const LONGEST = 20;

/**
 * An amount that a person enters in USDC, `0.10` or `5`, as micro-units.
 * @param name of the option, for the error
 * @throws UsageError if it is not a positive amount with at most six decimals
 */
export const parseUsdc = (text: string, name: string): string => {
  const match = /^(\d+)(?:\.(\d{1,6}))?$/.exec(text);
  const micro = match === null ? 0n : BigInt(`${match[1]}${(match[2] ?? '').padEnd(DECIMALS, '0')}`);
  if (micro === 0n || micro.toString().length > LONGEST)
    throw new UsageError(`${name}: "${text}" is not an amount in USDC, like 0.10 or 5`);
  return micro.toString();
};

/** Micro-units as USDC with six decimals: `0.100000 USDC`. */
export const formatUsdc = (micro: string): string => {
  const digits = micro.padStart(DECIMALS + 1, '0');
  return `${digits.slice(0, -DECIMALS)}.${digits.slice(-DECIMALS)} USDC`;
};
