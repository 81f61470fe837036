import { batched } from '../../shared/db/batched.ts';
import type { Pool } from '../../shared/db/pool.ts';
import type { Clock } from '../../shared/lib/clock.ts';
import { isSpendingLeft, type Spending, takeSpending } from './store/spending.ts';

/**
 * Caps over what is signed (rule 7): micro-units per wallet and per environment in a clock hour, lamports per
 * UTC day. A process takes portions in advance, so the database is asked once in many signatures; a portion that
 * is lost with the process only makes the cap tighter.
 */
export type Caps = {
  /** False: the cap of one of them is used up for this hour; nothing is taken then. */
  takeMicro: (wallet: string, amountMicro: bigint) => Promise<boolean>;
  takeLamports: (amount: bigint) => Promise<boolean>;
  /** Whether so many could be taken now; promises nothing. */
  hasLamports: (amount: bigint) => Promise<boolean>;
};

type Purse = { left: bigint; queue: Promise<unknown> };

/** Rent of a token account of 165 bytes: what the daily budget counts. */
export const TOKEN_ACCOUNT_LAMPORTS = 2_039_280n;
const PORTIONS = 100n;
const MS = { hour: 3_600_000, day: 86_400_000 } as const;
const MAX_SCOPES = 10_000;

export const createCaps = (
  pool: Pool,
  clock: Clock,
  limits: { walletMicro: bigint; environmentMicro: bigint; dailyLamports: bigint },
): Caps => {
  const purses = new Map<string, Purse>();
  // The first payments of many wallets in an hour come together.
  const draw = batched((asked: readonly Spending[]) => takeSpending(pool, asked), {
    keysOf: ({ scope }) => [scope],
  });

  const purseOf = (scope: string, period: 'hour' | 'day'): Purse => {
    const key = `${scope}@${Math.floor(clock() / MS[period])}`;
    const purse = purses.get(key) ?? { left: 0n, queue: Promise.resolve() };
    purses.set(key, purse);
    if (purses.size > MAX_SCOPES) purses.delete(purses.keys().next().value as string);
    return purse;
  };

  /** The purse it was taken from, or null. */
  const take = (
    scope: string,
    period: 'hour' | 'day',
    cap: bigint,
    amount: bigint,
  ): Promise<Purse | null> => {
    const purse = purseOf(scope, period);
    if (purse.left >= amount) {
      purse.left -= amount;
      return Promise.resolve(purse);
    }
    const refill = async (): Promise<Purse | null> => {
      if (purse.left < amount) {
        const missing = amount - purse.left;
        const portion = cap / PORTIONS > missing ? cap / PORTIONS : missing;
        if (await draw({ scope, period, amount: portion, cap })) purse.left += portion;
        else if (await draw({ scope, period, amount: missing, cap })) purse.left += missing;
        else return null;
      }
      purse.left -= amount;
      return purse;
    };
    // One after the other, or every signature of a burst would take a portion of its own.
    const result = purse.queue.then(refill);
    purse.queue = result.catch(() => {});
    return result;
  };

  return {
    takeMicro: async (wallet, amountMicro) => {
      const taken = await Promise.all([
        take(`wallet/${wallet}`, 'hour', limits.walletMicro, amountMicro),
        take('environment', 'hour', limits.environmentMicro, amountMicro),
      ]);
      if (taken.every((purse) => purse !== null)) return true;
      // To the purse that it came from: another hour's would hold more than was taken from its cap.
      for (const purse of taken) if (purse !== null) purse.left += amountMicro;
      return false;
    },
    takeLamports: async (amount) => (await take('rent', 'day', limits.dailyLamports, amount)) !== null,
    hasLamports: async (amount) =>
      purseOf('rent', 'day').left >= amount ||
      isSpendingLeft(pool, { scope: 'rent', period: 'day', amount, cap: limits.dailyLamports }),
  };
};
