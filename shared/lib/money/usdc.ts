/**
 * Amounts as people read and type them. This is the only place that divides micro-units. The SDK
 * has a generated copy, which the CLI, the MCP server and the console use, because it is published
 * without the rest of this repository.
 */

/** Micro-units (1 USDC = 1,000,000), or their digits. */
type Micro = bigint | string;

/**
 * 1234500000n → "1234.50": two decimals, or as many as needed. `parseUsdc` reads it again, so it is
 * the text for fields, options and files.
 */
export const plainUsdc = (micro: Micro): string => {
  const value = BigInt(micro);
  const digits = String(value < 0n ? -value : value).padStart(7, '0');
  const decimals = digits.slice(-6).replace(/0{1,4}$/, '');
  return `${value < 0n ? '-' : ''}${digits.slice(0, -6)}.${decimals}`;
};

/** 1234500000n → "1,234.50". A negative amount has a minus sign. */
export const formatUsdc = (micro: Micro): string =>
  plainUsdc(micro)
    .replace('-', '−')
    .replace(/\B(?=(\d{3})+\.)/g, ',');

/** 2500000n → "2.50 USDC". */
export const displayUsdc = (micro: Micro): string => `${formatUsdc(micro)} USDC`;

/**
 * Micro-units of typed USDC: "12.5", "0.000001". Null for anything but a plain amount above zero
 * with at most six decimals, so nothing is rounded. A comma is refused, because it separates
 * thousands for one person and decimals for another.
 */
export const parseUsdc = (typed: string): bigint | null => {
  const [, whole, decimals = ''] = /^([0-9]{1,12})(?:\.([0-9]{1,6}))?$/.exec(typed) ?? [];
  if (whole === undefined) return null;
  const micro = BigInt(whole + decimals.padEnd(6, '0'));
  return micro > 0n ? micro : null;
};
