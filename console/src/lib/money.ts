import { displayUsdc, parseUsdc } from '../../../sdk/src/generated/usdc.ts';

/** The text on hover: "1,234.50 USDC · 1234500000 micro-units". */
export const exactUsdc = (micro: bigint): string => `${displayUsdc(micro)} · ${micro} micro-units`;

/** The micro-units of a field's text, or null. Spaces around the amount are no error. */
export const typedUsdc = (typed: string): bigint | null => parseUsdc(typed.trim());

/** The error of a field whose text is no amount. */
export const NOT_AN_AMOUNT =
  'An amount above zero, with at most six decimals and without commas: 25 or 1250.50.';
