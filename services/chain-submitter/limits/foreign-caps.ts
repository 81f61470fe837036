import { z } from 'zod';
import { createBudgets, type Reservation } from '../../../shared/db/budget.ts';
import { capOfWallet, type HourlyLimits, hourlyCap, reserveWithin } from '../../../shared/db/hourly-caps.ts';
import { type Db, type Pool, sql } from '../../../shared/db/pool.ts';
import type { Clock } from '../../../shared/lib/clock.ts';

/**
 * Caps on the payments of other clients that are signed in a UTC hour: of a paying token account,
 * of a vendor account, and of all. The caps of our own payments do not count these payments, so
 * that nobody can hold an accepted payment back with them, and settlement needs to know nothing of
 * them: a payment over one of these caps is refused at once. What is proven to have moved nothing
 * is released (ledger/store/hourly-release.ts).
 */
export type ForeignLimits = Pick<HourlyLimits, 'walletMicro' | 'ofWallet'> & { foreignMicro: bigint };

type ForeignCap = 'foreign_source' | 'foreign_account' | 'foreign';

/** A vendor account has this part of the cap of all. */
const ACCOUNT_SHARE = 10n;

/** Who pays, and which vendor account is paid. */
type ForeignPayer = { source: string; accountId: string };
export type ForeignCaps = {
  /**
   * Reserves all three or none. The cap of all is reserved last, so whoever is over its own cap
   * uses nothing of it.
   * @param at a moment of the hour in which the amount counts
   */
  reserve: (
    payer: ForeignPayer,
    amountMicro: bigint,
    at: number,
  ) => Promise<Reservation | { reached: ForeignCap }>;
};

export const createForeignCaps = (pool: Pool, clock: Clock, limits: ForeignLimits): ForeignCaps => {
  const budgets = createBudgets(pool, clock);
  return {
    reserve: ({ source, accountId }, amountMicro, at) => {
      const ofAccount = limits.foreignMicro / ACCOUNT_SHARE;
      const own = [
        hourlyCap('foreign_source', `foreign_source/${source}`, capOfWallet(limits, source)),
        hourlyCap('foreign_account', `foreign_account/${accountId}`, ofAccount),
      ];
      const all = hourlyCap('foreign', 'foreign', limits.foreignMicro);
      return reserveWithin(budgets, { own, all }, amountMicro, at);
    },
  };
};

const Used = z.object({ account: z.number(), all: z.number() });

/**
 * The used part of the caps in the current hour, as observations of their metric. For accounts: the
 * highest value.
 */
export const measureForeignCapUse = async (db: Db, { foreignMicro }: Pick<ForeignLimits, 'foreignMicro'>) => {
  const { account, all } = await db.one(sql.type(Used)`
    select coalesce(max(reserved::float8 / ${foreignMicro / ACCOUNT_SHARE})
        filter (where scope like 'foreign\\_account/%'), 0) as account,
      coalesce(max(reserved::float8 / ${foreignMicro}) filter (where scope = 'foreign'), 0) as all
    from spending where period = date_trunc('hour', app_now(), 'UTC')`);
  return [
    {
      metric: 'quittance_cap_used_ratio' as const,
      value: account,
      labels: { cap: 'foreign_account_hour' as const },
    },
    { metric: 'quittance_cap_used_ratio' as const, value: all, labels: { cap: 'foreign_hour' as const } },
  ];
};
