import * as z from 'zod';
import { microOf, typedFault } from '../../../sdk/src/paywall/adapter.ts';

/**
 * The values of a gate's settings. Scalars are read as text, so that a price is never a float. The
 * published schema also allows the numbers and booleans that an editor sees there.
 */
export const text = z.union([z.string(), z.number(), z.boolean()]).transform(String);

export const check =
  (fault: (value: string) => string | null) => (value: string, context: z.RefinementCtx<string>) => {
    const message = fault(value);
    if (message !== null) context.addIssue({ code: 'custom', message });
  };

export const Price = text
  .superRefine(check(typedFault))
  .transform((value) => microOf(value).toString())
  .describe("USDC with its unit or with a point: '$0.05', '0.05 USDC', 0.05");

export const whole = (least: number, most: number) =>
  text
    .superRefine(
      check((value) =>
        /^\d{1,12}$/.test(value) && Number(value) >= least && Number(value) <= most
          ? null
          : `use a whole number from ${least} to ${most}`,
      ),
    )
    .transform(Number);

export const flag = text
  .superRefine(check((value) => (/^(true|false)$/.test(value) ? null : 'use true or false')))
  .transform((value) => value === 'true');

const SECONDS: Record<string, number> = { ms: 0.001, s: 1, m: 60, h: 3600 };
const DURATION = /^(\d{1,9})(ms|s|m|h)$/;
const msOf = (value: string): number => {
  const [, count, unit] = DURATION.exec(value) ?? [];
  return unit === undefined ? Number.NaN : Math.round(Number(count) * SECONDS[unit]! * 1000);
};

/** A time in milliseconds. */
export const durationFrom = (leastMs: number, mostMs: number, bounds: string) =>
  text
    .superRefine(
      check((value) => {
        const ms = msOf(value);
        return ms >= leastMs && ms <= mostMs ? null : `use a time like '500ms', '30s' or '5m', ${bounds}`;
      }),
    )
    .transform(msOf);
export const duration = durationFrom(1, 24 * 3_600_000, 'at most 24h');

/** The name of a header, in small letters. */
export const HeaderName = text
  .superRefine(
    check((value) => (/^[\w-]{1,64}$/.test(value) ? null : 'use the name of one header, like X-Tokens')),
  )
  .transform((value) => value.toLowerCase());
