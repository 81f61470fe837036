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
 * Parses a provider's decimal text digit by digit, because floats are not exact. Digits below a
 * micro-unit do not exist on chain and are cut off. Null for anything but plain positive decimals;
 * exponents are refused.
 */
export const microFromDecimal = (text: string): bigint | null => {
  const match = /^([0-9]{1,12})(?:\.([0-9]{1,30}))?$/.exec(text);
  if (match === null) return null;
  const micro = BigInt(match[1]! + (match[2] ?? '').slice(0, 6).padEnd(6, '0'));
  return micro > 0n ? micro : null;
};

/** The text for people: 2500000n → "2.5 USDC". */
export const displayUsdc = (micro: bigint): string => {
  const fraction = (micro % 1_000_000n).toString().padStart(6, '0').replace(/0+$/, '');
  return `${micro / 1_000_000n}${fraction === '' ? '' : `.${fraction}`} USDC`;
};
