import { displayUsdc, parseUsdc } from './generated/usdc.ts';

/** Amounts of money as callers write them: USDC micro-units, as a string or as a bigint. */

const AMOUNT = /^[1-9][0-9]{0,18}$/;
const LARGEST = 2n ** 63n - 1n;
const EXAMPLE = "'50000' is 0.05 USDC";

const faultOfNumber = (value: number): string => {
  const asUsdc = parseUsdc(String(value));
  if (asUsdc === null) return `use micro-units as a string, not a number: ${EXAMPLE}`;
  const inUsdc = `'${asUsdc}' is ${displayUsdc(asUsdc)}`;
  if (!Number.isInteger(value)) return `use micro-units as a string: ${inUsdc}`;
  return `use micro-units as a string, not a number: '${value}' is ${displayUsdc(BigInt(value))}, and ${inUsdc}`;
};

const faultOfText = (value: string): string | null => {
  if (AMOUNT.test(value))
    return BigInt(value) > LARGEST ? `is too large: the largest amount is '${LARGEST}' micro-units` : null;
  if (value === '') return `is empty; use micro-units as a string: ${EXAMPLE}`;
  const asUsdc = parseUsdc(value);
  if (asUsdc !== null && value.includes('.'))
    return `use micro-units as a string: '${asUsdc}' is ${displayUsdc(asUsdc)}`;
  if (/^0+(\.0+)?$/.test(value)) return `must be more than 0: ${EXAMPLE}`;
  if (/^0[0-9]+$/.test(value)) return `must not begin with 0: ${EXAMPLE}`;
  if (value.includes(',')) return `leave out commas; use micro-units as digits: ${EXAMPLE}`;
  if (/^[+-]/.test(value)) return `leave out the sign; use micro-units as digits: ${EXAMPLE}`;
  return `use micro-units as digits only: ${EXAMPLE}`;
};

/**
 * What is wrong with an amount that must be a string, and what to write instead. It never converts,
 * because a wrong guess would charge a wrong price. Null: it is right.
 */
export const amountFault = (value: unknown): string | null => {
  if (typeof value === 'string') return faultOfText(value);
  if (typeof value === 'number') return faultOfNumber(value);
  if (typeof value === 'bigint') return `use a string of micro-units, not a bigint: '${value}'`;
  return `use micro-units as a string: ${EXAMPLE}`;
};

/** The same for an amount that must be a bigint, as `maxAmount`. */
export const bigintFault = (value: unknown): string | null => {
  if (typeof value === 'bigint') return value < 0n ? 'must not be negative' : null;
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : '';
  if (AMOUNT.test(text)) return `use a bigint of micro-units: ${text}n is ${displayUsdc(BigInt(text))}`;
  const asUsdc = parseUsdc(text);
  return asUsdc === null
    ? 'use a bigint of micro-units: 50000n is 0.05 USDC'
    : `use a bigint of micro-units: ${asUsdc}n is ${displayUsdc(asUsdc)}`;
};
