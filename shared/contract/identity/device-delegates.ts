import { z } from 'zod';
import { MicroUsdc } from '../primitives.ts';

/**
 * The most that the delegates of one device may be given, in micro-units. These are the default
 * limits of an account, so a phished code is worth at most twice what a stolen sign-in is.
 */
const DEVICE_PER_PAYMENT = 10_000_000n;
/** Of all its delegates together, each by the least of its limits of a day, month and in total. */
export const DEVICE_GRANT = 25_000_000n;

export type PeriodLimits = Partial<Record<'daily' | 'monthly' | 'total', string | null | undefined>>;

/** The most that a delegate may spend in a day, by its limits. Null: they do not limit it. */
export const dailyGrant = ({ daily, monthly, total }: PeriodLimits): bigint | null => {
  const amounts = [daily, monthly, total].flatMap((text) => (text == null ? [] : [BigInt(text)]));
  return amounts.length === 0 ? null : amounts.reduce((least, each) => (each < least ? each : least));
};

const isGranted = (limits: PeriodLimits): boolean => {
  const grant = dailyGrant(limits);
  return grant !== null && grant <= DEVICE_GRANT;
};

/** The inputs with which a device may create a delegate. */
export const DEVICE_DELEGATE = {
  rule: 'with a limit per_payment of at most 10 USDC, and a limit daily, monthly or total of at most 25 USDC, and without outgoing payments to any address',
  within: z.looseObject({
    limits: z
      .looseObject({
        per_payment: MicroUsdc.refine((text) => BigInt(text) <= DEVICE_PER_PAYMENT),
        daily: MicroUsdc.nullish(),
        monthly: MicroUsdc.nullish(),
        total: MicroUsdc.nullish(),
      })
      .refine(isGranted),
    external: z.looseObject({ pay_to: z.array(z.unknown()) }).nullish(),
  }),
};
