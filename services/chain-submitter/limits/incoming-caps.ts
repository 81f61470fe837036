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
 *
 * Anybody can ask for a transaction that a buyer signs last, and name any account. Such payments
 * have caps of the same size of their own, and none of their source, so they take nothing from
 * others.
 */
export type IncomingLimits = Pick<HourlyLimits, 'walletMicro' | 'ofWallet'> & { incomingMicro: bigint };

type IncomingCap = 'incoming_source' | 'incoming_account' | 'incoming';

/** A vendor account has this part of the cap of all. */
const ACCOUNT_SHARE = 10n;

/** Who pays, and which vendor account is paid. */
type IncomingPayer = { source: string; accountId: string; signsLast: boolean };
export type IncomingCaps = {
  /**
   * Reserves all three or none. The cap of all is reserved last, so whoever is over its own cap
   * uses nothing of it.
   * @param at a moment of the hour in which the amount counts
   */
  reserve: (
    payer: IncomingPayer,
    amountMicro: bigint,
    at: number,
  ) => Promise<Reservation | { reached: IncomingCap }>;
};

export const createIncomingCaps = (pool: Pool, clock: Clock, limits: IncomingLimits): IncomingCaps => {
  const budgets = createBudgets(pool, clock);
  return {
    reserve: ({ source, accountId, signsLast }, amountMicro, at) => {
      const ofAccount = limits.incomingMicro / ACCOUNT_SHARE;
      if (signsLast) {
        const own = [hourlyCap('incoming_account', `incoming_last_account/${accountId}`, ofAccount)];
        const all = hourlyCap('incoming', 'incoming_last', limits.incomingMicro);
        return reserveWithin(budgets, { own, all }, amountMicro, at);
      }
      const own = [
        hourlyCap('incoming_source', `incoming_source/${source}`, capOfWallet(limits, source)),
        hourlyCap('incoming_account', `incoming_account/${accountId}`, ofAccount),
      ];
      const all = hourlyCap('incoming', 'incoming', limits.incomingMicro);
      return reserveWithin(budgets, { own, all }, amountMicro, at);
    },
  };
};

const Used = z.object({ account: z.number(), all: z.number() });

/**
 * The used part of the caps in the current hour, as observations of their metric. For accounts: the
 * highest value.
 */
export const measureIncomingCapUse = async (
  db: Db,
  { incomingMicro }: Pick<IncomingLimits, 'incomingMicro'>,
) => {
  const { account, all } = await db.one(sql.type(Used)`
    select coalesce(max(reserved::float8 / ${incomingMicro / ACCOUNT_SHARE})
        filter (where scope like 'incoming\\_account/%'), 0) as account,
      coalesce(max(reserved::float8 / ${incomingMicro}) filter (where scope = 'incoming'), 0) as all
    from spending where period = date_trunc('hour', app_now(), 'UTC')`);
  return [
    {
      metric: 'quittance_cap_used_ratio' as const,
      value: account,
      labels: { cap: 'incoming_account_hour' as const },
    },
    { metric: 'quittance_cap_used_ratio' as const, value: all, labels: { cap: 'incoming_hour' as const } },
  ];
};
