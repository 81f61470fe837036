import { type Amount, microOf } from '../../amounts.ts';
import { PriceAboveCapError } from './errors.ts';
import type { Price } from './price.ts';

/**
 * Caps over many calls of one `payingFetch`, in USDC micro-units or with their unit. They exist
 * only in this process. The delegate's limits are the lasting ones.
 */
export type Budget = {
  /** Over all origins. */
  total?: Amount;
  /** Over each origin. */
  perOrigin?: Amount;
  /**
   * The sliding period in milliseconds that counts. Default: everything.
   */
  periodMs?: number;
};

type Entry = { origin: string; amountMicro: bigint; endsAt: number };

/**
 * Amounts are reserved before the payment, so that concurrent calls cannot exceed a cap.
 */
export const createLedger = ({ total: inTotal, perOrigin: ofOrigin, periodMs }: Budget) => {
  const total = inTotal === undefined ? undefined : microOf(inTotal);
  const perOrigin = ofOrigin === undefined ? undefined : microOf(ofOrigin);
  const entries = new Map<string, Entry>();
  /** Paid amounts per origin, if there is no period; then only the sums are needed. */
  const paid = new Map<string, bigint>();

  const sum = (origin: string | null): bigint => {
    const counts = (each: string) => origin === null || each === origin;
    let micro = 0n;
    for (const [each, amountMicro] of paid) if (counts(each)) micro += amountMicro;
    for (const entry of entries.values()) if (counts(entry.origin)) micro += entry.amountMicro;
    return micro;
  };

  return {
    /** Idempotent by id. @throws PriceAboveCapError if it exceeds a cap */
    reserve: (id: string, origin: string, price: Price): void => {
      if (entries.has(id)) return;
      const now = Date.now();
      for (const [each, { endsAt }] of entries) if (endsAt <= now) entries.delete(each);
      const amountMicro = BigInt(price.quote_amount);
      if (total !== undefined && sum(null) + amountMicro > total)
        throw new PriceAboveCapError('total', price, total);
      if (perOrigin !== undefined && sum(origin) + amountMicro > perOrigin)
        throw new PriceAboveCapError('perOrigin', price, perOrigin);
      entries.set(id, { origin, amountMicro, endsAt: Number.POSITIVE_INFINITY });
    },
    /** Releases a reservation for which certainly nothing was paid. */
    release: (id: string): void => {
      entries.delete(id);
    },
    /** Adds a reservation to another one, which ends both. */
    merge: (id: string, into: string): void => {
      const added = entries.get(id);
      if (added === undefined) return;
      entries.delete(id);
      const amountMicro = (entries.get(into)?.amountMicro ?? 0n) + added.amountMicro;
      entries.set(into, { ...added, amountMicro });
    },
    /** @param micro what was paid, if it is less than what was reserved */
    spend: (id: string, micro?: bigint): void => {
      const reserved = entries.get(id);
      if (reserved === undefined) return;
      const entry = { ...reserved, amountMicro: micro ?? reserved.amountMicro };
      if (periodMs !== undefined) {
        entries.set(id, { ...entry, endsAt: Date.now() + periodMs });
        return;
      }
      entries.delete(id);
      paid.set(entry.origin, (paid.get(entry.origin) ?? 0n) + entry.amountMicro);
    },
  };
};
export type Ledger = ReturnType<typeof createLedger>;
