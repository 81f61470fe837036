import type { QuoteClaims } from '../tokens.ts';
import { PriceAboveCapError } from './errors.ts';

/**
 * Caps over many calls of one `payingFetch`, in USDC micro-units. They are this process' own and
 * begin anew with it: the limits of the delegate are what holds for good.
 */
export type Budget = {
  /** Over all origins. */
  total?: bigint;
  /** Over each origin. */
  perOrigin?: bigint;
  /**
   * Counts what was paid in the last so many milliseconds, at every moment. Default: everything.
   */
  periodMs?: number;
};

type Entry = { origin: string; amountMicro: bigint; endsAt: number };

/**
 * Reserved before the payment, so that calls at once cannot together exceed what each alone would
 * not.
 */
export const createLedger = ({ total, perOrigin, periodMs }: Budget) => {
  const entries = new Map<string, Entry>();
  /** Paid for good where there is no period: only the sums are needed then. */
  const paid = new Map<string, bigint>();

  const sum = (origin: string | null): bigint => {
    const counts = (each: string) => origin === null || each === origin;
    let micro = 0n;
    for (const [each, amountMicro] of paid) if (counts(each)) micro += amountMicro;
    for (const entry of entries.values()) if (counts(entry.origin)) micro += entry.amountMicro;
    return micro;
  };

  return {
    /** Idempotent by id. @throws PriceAboveCapError when it does not fit */
    reserve: (id: string, origin: string, quote: QuoteClaims): void => {
      if (entries.has(id)) return;
      const now = Date.now();
      for (const [each, { endsAt }] of entries) if (endsAt <= now) entries.delete(each);
      const amountMicro = BigInt(quote.quote_amount);
      if (total !== undefined && sum(null) + amountMicro > total)
        throw new PriceAboveCapError('total', quote);
      if (perOrigin !== undefined && sum(origin) + amountMicro > perOrigin)
        throw new PriceAboveCapError('perOrigin', quote);
      entries.set(id, { origin, amountMicro, endsAt: Number.POSITIVE_INFINITY });
    },
    /** Nothing was paid, for certain. */
    release: (id: string): void => {
      entries.delete(id);
    },
    spend: (id: string): void => {
      const entry = entries.get(id);
      if (entry === undefined) return;
      if (periodMs !== undefined) {
        entries.set(id, { ...entry, endsAt: Date.now() + periodMs });
        return;
      }
      entries.delete(id);
      paid.set(entry.origin, (paid.get(entry.origin) ?? 0n) + entry.amountMicro);
    },
  };
};
