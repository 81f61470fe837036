import { parseUsdc } from './usdc.ts';

/**
 * Amounts are bigint micro-units (1 USDC = 1,000,000) between the wire and the database, never
 * floats.
 */

/**
 * Parses the digits of the wire. The contract has validated the text, so anything else is a bug and
 * throws.
 */
export const parseMicro = (digits: string): bigint => {
  if (!/^(0|[1-9][0-9]{0,18})$/.test(digits)) throw new TypeError('not an amount in micro-units');
  return BigInt(digits);
};

/** Formats an amount as the digits of the wire. */
export const formatMicro = (micro: bigint): string => micro.toString();

/**
 * Parses a provider's decimal text, because floats are not exact. Digits below a micro-unit do not
 * exist on chain and are cut off. Null for anything but plain positive decimals.
 */
export const microFromDecimal = (text: string): bigint | null =>
  parseUsdc(text.replace(/^([0-9]+\.[0-9]{6})[0-9]{1,24}$/, '$1'));
