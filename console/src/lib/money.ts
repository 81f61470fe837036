/** Formats and parses money: bigint micro-units (1 USDC = 1,000,000), never a float. */

const MICRO = 1_000_000n;
const whole = new Intl.NumberFormat('en');

/**
 * 1234500000n → "1,234.50"; two decimals, or as many as needed. A negative amount has a minus sign.
 */
export const formatUsdc = (micro: bigint): string => {
  const size = micro < 0n ? -micro : micro;
  const decimals = (size % MICRO)
    .toString()
    .padStart(6, '0')
    .replace(/0{1,4}$/, '');
  return `${micro < 0n ? '−' : ''}${whole.format(size / MICRO)}.${decimals}`;
};

/** The text on hover: "1,234.500000 USDC · 1234500000 micro-units". */
export const exactUsdc = (micro: bigint): string => {
  const size = micro < 0n ? -micro : micro;
  const sign = micro < 0n ? '−' : '';
  const decimals = (size % MICRO).toString().padStart(6, '0');
  return `${sign}${whole.format(size / MICRO)}.${decimals} USDC · ${micro} micro-units`;
};

/**
 * Parses typed USDC into micro-units: "12.5", "1,000", "0.000001". Null for anything but a plain
 * amount above zero with at most six decimals, so that nothing is rounded.
 */
export const parseUsdc = (typed: string): bigint | null => {
  const match = /^(\d{1,12}|\d{1,3}(?:,\d{3}){1,3})(?:\.(\d{1,6}))?$/.exec(typed.trim());
  if (match === null) return null;
  const micro = BigInt(match[1]!.replaceAll(',', '')) * MICRO + BigInt((match[2] ?? '').padEnd(6, '0'));
  return micro > 0n ? micro : null;
};
