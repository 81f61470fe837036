import { displayUsdc, parseUsdc, plainUsdc } from './generated/usdc.ts';

/**
 * Amounts of money as callers write them: USDC with a unit or a point, or USDC micro-units, as a
 * string or as a bigint.
 */

/** USDC with its unit, or with a point, and at most six decimals, which is read exactly. */
export type NamedUsdc = `$${string}` | `${string} USDC` | `${number}.${number}`;
/** USDC micro-units, or USDC: `50_000n`, `'$0.05'`, `'0.05'`, `'0.05 USDC'`. */
export type Amount = bigint | NamedUsdc;

const MICRO = /^[1-9][0-9]{0,18}$/;
const LARGEST = 2n ** 63n - 1n;
/** The one sentence about how an amount is written. */
const HOW = "write '$0.05', '0.05' or '0.05 USDC'";

const faultOfNumber = (value: number): string => {
  const asUsdc = parseUsdc(String(value));
  if (asUsdc === null) return `use a string, not a number: ${HOW}`;
  const named = `use a string, not a number: '$${plainUsdc(asUsdc)}'`;
  return Number.isInteger(value)
    ? `${named}, or '${value}' for ${displayUsdc(BigInt(value))} in micro-units`
    : named;
};

const NAMED = /^(?:\$ ?(.*)|(.*?) ?USDC|([0-9]+\.[0-9]+))$/i;

/** The number of USDC in a text with a unit or a point. Undefined: it has neither. */
const namedIn = (value: string): string | undefined => {
  const [, behind, before, pointed] = NAMED.exec(value) ?? [];
  return behind ?? before ?? pointed;
};

const faultOfNamed = (named: string): string | null => {
  const micro = parseUsdc(named);
  if (micro !== null)
    return micro > LARGEST ? `is too large: the largest amount is ${displayUsdc(LARGEST)}` : null;
  if (/^0+(\.0+)?$/.test(named)) return `must be more than 0: '$0.05'`;
  if (/^[0-9]+\.[0-9]{7,}$/.test(named)) return `has more than six decimals: '$0.000001' is the least amount`;
  return /^[0-9]{13,}(\.[0-9]*)?$/.test(named)
    ? `is too large: the largest amount is ${displayUsdc(LARGEST)}`
    : HOW;
};

/**
 * What is wrong with an amount where a person types it: in options, settings, forms and files. A
 * whole number without a unit means micro-units to a program and dollars to most readers, so it is
 * refused. Null: it is right, and `microOf` reads it.
 */
export const typedFault = (value: string): string | null => {
  const named = namedIn(value);
  if (named !== undefined) return faultOfNamed(named);
  const fault = /^[0-9]+$/.test(value) ? faultOfNamed(value) : HOW;
  return fault ?? `${HOW}; not '${value}': write '$${value}' for ${displayUsdc(parseUsdc(value)!)}`;
};

const faultOfText = (value: string): string | null => {
  const named = namedIn(value);
  if (named !== undefined) return faultOfNamed(named);
  if (MICRO.test(value))
    return BigInt(value) > LARGEST ? `is too large: the largest amount is '${LARGEST}' micro-units` : null;
  if (value === '') return `is empty: ${HOW}`;
  if (/^0+$/.test(value)) return `must be more than 0: '$0.05'`;
  if (/^0[0-9]+$/.test(value)) return `must not begin with 0: ${HOW}`;
  if (/^[0-9]+$/.test(value)) return `is too large: the largest amount is '${LARGEST}' micro-units`;
  if (value.includes(',')) return `leave out commas: ${HOW}`;
  if (/^[+-]/.test(value)) return `leave out the sign: ${HOW}`;
  return HOW;
};

/**
 * What is wrong with an amount that a program passes as a string, and what to write instead. Digits
 * alone are micro-units, as in the API. Null: it is right.
 */
export const amountFault = (value: unknown): string | null => {
  if (typeof value === 'string') return faultOfText(value);
  if (typeof value === 'number') return faultOfNumber(value);
  if (typeof value === 'bigint') return `use a string of micro-units, not a bigint: '${value}'`;
  return HOW;
};

/** The micro-units of an amount without a fault. */
export const microOf = (value: string | bigint): bigint => {
  if (typeof value === 'bigint') return value;
  const named = namedIn(value);
  return named === undefined ? BigInt(value) : parseUsdc(named)!;
};

/** The same as `amountFault` for an `Amount`, as `maxAmount` is. */
export const bigintFault = (value: unknown): string | null => {
  if (typeof value === 'bigint') return value < 0n ? 'must not be negative' : null;
  if (typeof value !== 'string' && typeof value !== 'number') return `${HOW}, or a bigint of micro-units`;
  const text = String(value);
  if (MICRO.test(text))
    return `write '$${text}' for ${text} USDC, or ${text}n for ${displayUsdc(text)} in micro-units`;
  return typeof value === 'number' ? faultOfNumber(value) : typedFault(value);
};
