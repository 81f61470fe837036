/**
 * Money is bigint micro-units (1 USDC = 1,000,000) everywhere between the wire and the database.
 * Never a float.
 */

/**
 * Wire digits to bigint. The contract has checked the text; anything else here is a bug and throws.
 */
export const parseMicro = (digits: string): bigint => {
  if (!/^(0|[1-9][0-9]{0,18})$/.test(digits)) throw new TypeError('not an amount in micro-units');
  return BigInt(digits);
};

/** Bigint to wire digits. */
export const formatMicro = (micro: bigint): string => micro.toString();

/**
 * A provider's decimal text to micro-units, digit by digit: a float has no place in money. Digits
 * below a micro-unit do not exist on chain and are cut off. Null for anything but plain decimals
 * above zero, exponents included.
 */
export const microFromDecimal = (text: string): bigint | null => {
  const match = /^([0-9]{1,12})(?:\.([0-9]{1,30}))?$/.exec(text);
  if (match === null) return null;
  const micro = BigInt(match[1]! + (match[2] ?? '').slice(0, 6).padEnd(6, '0'));
  return micro > 0n ? micro : null;
};

/** For people only: 2500000n → "2.5 USDC". */
export const displayUsdc = (micro: bigint): string => {
  const fraction = (micro % 1_000_000n).toString().padStart(6, '0').replace(/0+$/, '');
  return `${micro / 1_000_000n}${fraction === '' ? '' : `.${fraction}`} USDC`;
};
