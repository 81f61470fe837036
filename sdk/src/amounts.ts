import { displayUsdc, parseUsdc, plainUsdc } from './generated/usdc.ts';

/**
 * Amounts of money as callers write them: USDC micro-units, as a string or as a bigint, or USDC
 * with its unit.
 */

/** USDC with its unit and at most six decimals, which is read exactly. */
export type NamedUsdc = `$${string}` | `${string} USDC`;
/** USDC micro-units, or USDC with its unit: `50_000n`, `'$0.05'`, `'0.05 USDC'`. */
export type Amount = bigint | NamedUsdc;

const AMOUNT = /^[1-9][0-9]{0,18}$/;
const LARGEST = 2n ** 63n - 1n;
const EXAMPLE = "'50000' is 0.05 USDC";

const faultOfNumber = (value: number): string => {
  const asUsdc = parseUsdc(String(value));
  if (asUsdc === null) return `use micro-units as a string, not a number: ${EXAMPLE}`;
  const inUsdc = `'${asUsdc}' is ${displayUsdc(asUsdc)}`;
  if (!Number.isInteger(value))
    return `use a string with the unit: '$${plainUsdc(asUsdc)}', or '${asUsdc}' in micro-units`;
  return `use micro-units as a string, not a number: '${value}' is ${displayUsdc(BigInt(value))}, and ${inUsdc}`;
};

const NAMED = /^(?:\$ ?(.*)|(.*?) ?USDC)$/i;

/** The number beside the unit. Undefined: there is no unit. */
const namedIn = (value: string): string | undefined => {
  const [, behind, before] = NAMED.exec(value) ?? [];
  return behind ?? before;
};

const faultOfNamed = (named: string): string | null => {
  const micro = parseUsdc(named);
  if (micro !== null)
    return micro > LARGEST ? `is too large: the largest amount is ${displayUsdc(LARGEST)}` : null;
  if (/^0+(\.0+)?$/.test(named)) return `must be more than 0: '$0.05'`;
  if (/^[0-9]+\.[0-9]{7,}$/.test(named)) return `has more than six decimals: '$0.000001' is the least amount`;
  return `use digits and a point, like '$0.05' or '0.05 USDC'`;
};

const faultOfText = (value: string): string | null => {
  const named = namedIn(value);
  if (named !== undefined) return faultOfNamed(named);
  if (AMOUNT.test(value))
    return BigInt(value) > LARGEST ? `is too large: the largest amount is '${LARGEST}' micro-units` : null;
  if (value === '') return `is empty; use micro-units as a string: ${EXAMPLE}`;
  const asUsdc = parseUsdc(value);
  if (asUsdc !== null && value.includes('.'))
    return `name the unit: '$${plainUsdc(asUsdc)}', or '${asUsdc}' in micro-units`;
  if (/^0+(\.0+)?$/.test(value)) return `must be more than 0: ${EXAMPLE}`;
  if (/^0[0-9]+$/.test(value)) return `must not begin with 0: ${EXAMPLE}`;
  if (value.includes(',')) return `leave out commas; use micro-units as digits: ${EXAMPLE}`;
  if (/^[+-]/.test(value)) return `leave out the sign; use micro-units as digits: ${EXAMPLE}`;
  return `use micro-units as digits only: ${EXAMPLE}`;
};

/**
 * What is wrong with an amount that must be a string, and what to write instead. It never guesses
 * the unit, because a wrong guess would charge a wrong price. Null: it is right.
 */
export const amountFault = (value: unknown): string | null => {
  if (typeof value === 'string') return faultOfText(value);
  if (typeof value === 'number') return faultOfNumber(value);
  if (typeof value === 'bigint') return `use a string of micro-units, not a bigint: '${value}'`;
  return `use micro-units as a string: ${EXAMPLE}`;
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
  const named = typeof value === 'string' ? namedIn(value) : undefined;
  if (named !== undefined) return faultOfNamed(named);
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : '';
  if (AMOUNT.test(text)) return `use a bigint of micro-units: ${text}n is ${displayUsdc(BigInt(text))}`;
  const asUsdc = parseUsdc(text);
  return asUsdc === null
    ? 'use a bigint of micro-units: 50000n is 0.05 USDC'
    : `name the unit: '$${plainUsdc(asUsdc)}', or ${asUsdc}n in micro-units`;
};
