import * as z from 'zod';
import { microOf, typedFault } from '../../sdk/src/amounts.ts';
import { plainUsdc } from '../../sdk/src/generated/usdc.ts';
import { InvalidRequestError } from './errors.ts';

/** Amounts in tools: USDC for people and models, and micro-units, which are exact. */

export const maxFields = {
  max_usdc: z
    .string()
    .max(40)
    .optional()
    .describe('The most to pay for this request, in USDC: "0.05". "0" pays nothing and returns the price'),
  max_amount: z
    .string()
    .max(40)
    .optional()
    .describe('The same in micro-units, instead of max_usdc: "50000" is 0.05 USDC'),
};
type Max = { max_usdc?: string | undefined; max_amount?: string | undefined };

const ZERO = /^\$? ?0+(\.0+)?( ?USDC)?$/i;

/** What is wrong with USDC that a person or a model writes. Zero is allowed. Null: nothing. */
export const usdcFault = (text: string): string | null => (ZERO.test(text) ? null : typedFault(text));

/** The micro-units of a text without a fault. */
export const microOfUsdc = (text: string): bigint => (ZERO.test(text) ? 0n : microOf(text));

/**
 * The maximum of a call in micro-units.
 * @throws InvalidRequestError that says how to write it
 */
export const maxOf = ({ max_usdc, max_amount }: Max): bigint => {
  if ((max_usdc === undefined) === (max_amount === undefined))
    throw new InvalidRequestError(
      'Name either max_usdc, like "0.05", or max_amount in micro-units, like "50000".',
    );
  if (max_usdc !== undefined) {
    const fault = usdcFault(max_usdc);
    if (fault === null) return microOfUsdc(max_usdc);
    throw new InvalidRequestError(`max_usdc: ${fault}.`);
  }
  if (/^[0-9]{1,19}$/.test(max_amount!)) return BigInt(max_amount!);
  const isUsdc = usdcFault(max_amount!) === null;
  const meant = isUsdc ? plainUsdc(microOfUsdc(max_amount!)) : null;
  const hint = meant === null ? 'max_usdc is in USDC' : `for ${meant} USDC use max_usdc "${meant}"`;
  throw new InvalidRequestError(
    `max_amount must be micro-units, digits only: "50000" is 0.05 USDC; ${hint}.`,
  );
};

const MICRO = 'USDC micro-units: "1000000" is 1 USDC';
export const micro = z.string().describe(MICRO);
/** An amount in USDC, as text beside its micro-units. */
export const usdc = z.string().describe('The same in USDC');

type InUsdc<T extends Record<string, string | null>> = T & { [K in keyof T & string as `${K}_usdc`]: T[K] };

/** Amounts in micro-units, and each of them in USDC. */
export const inBoth = <T extends Record<string, string | null>>(amounts: T): InUsdc<T> =>
  Object.fromEntries(
    Object.entries(amounts).flatMap(([name, amount]) => [
      [name, amount],
      [`${name}_usdc`, amount === null ? null : plainUsdc(amount)],
    ]),
  ) as InUsdc<T>;
