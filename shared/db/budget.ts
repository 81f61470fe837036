import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Clock } from '../lib/clock.ts';
import { batched } from './batched.ts';
import { type Db, type Pool, sql } from './pool.ts';

/** The amount of a scope that may be reserved in each UTC hour or day. */
export type Budget = { scope: string; period: 'hour' | 'day'; cap: bigint };

/** A reserved amount. `release` returns an amount that was not used. It is called at most once. */
export type Reservation = { release: () => void };

/** Budgets over the table `spending` of the service's schema. */
export type Budgets = {
  /**
   * Null if less than the amount is left in the period.
   * @param at the time that determines the period
   */
  reserve: (budget: Budget, amount: bigint, at?: number) => Promise<Reservation | null>;
  /**
   * Gives an amount back that was reserved, used and has been paid for since. It reaches the table
   * with others, so a process that dies gives back a little less.
   * @param at the time that determined the period
   */
  giveBack: (budget: Budget, amount: bigint, at?: number) => void;
  /** Whether the amount could be reserved now. This is no guarantee. */
  hasLeft: (budget: Budget, amount: bigint) => Promise<boolean>;
  /** Seconds until the running period ends and the budget refills. */
  refillsInSeconds: (period: Budget['period']) => number;
};

/**
 * The amount of one scope and period that this process has reserved in advance. `taken`: what it
 * has taken from the table so far.
 */
type Allotment = { scope: string; startsAt: number; left: bigint; taken: bigint; queue: Promise<unknown> };
type AmountRequest = { scope: string; startsAt: number; amount: bigint; cap: bigint };

const ALLOTMENTS_PER_CAP = 100n;
const FIRST_PER_CAP = 1000n;
const MS = { hour: 3_600_000, day: 86_400_000 } as const;
const MAX_ALLOTMENTS = 10_000;

/**
 * Reserves amounts of different scopes by one conditional statement, so that no sum exceeds its cap
 * under concurrency.
 * @returns one value for each request, in their order; false if less than the amount is left
 */
export const reserveAmounts = async (db: Db, requested: readonly AmountRequest[]): Promise<boolean[]> => {
  const rows = requested.map(({ scope, startsAt, amount, cap }) => ({
    scope,
    period: new Date(startsAt),
    amount: String(amount),
    cap: String(cap),
  }));
  // Ordered by scope, so that two workers cannot deadlock.
  const reserved = await db.anyFirst(sql.type(z.object({ scope: z.string() }))`
    with requested as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as requested(scope text, period timestamptz, amount bigint, cap bigint)
      where amount <= cap
    )
    insert into spending as s (scope, period, reserved)
    select scope, period, amount from requested order by scope
    on conflict (scope, period) do update set reserved = s.reserved + excluded.reserved
      where s.reserved + excluded.reserved <= (select cap from requested where requested.scope = excluded.scope)
    returning scope`);
  return requested.map(({ scope }) => reserved.includes(scope));
};

const releaseAmount = (
  db: Db,
  { scope, startsAt, amount }: Pick<AmountRequest, 'scope' | 'startsAt' | 'amount'>,
): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update spending set reserved = reserved - ${amount}
    where scope = ${scope} and period = ${new Date(startsAt).toISOString()}::timestamptz`);

/** The reserved amounts of scopes, in their order. */
export const reservedAmounts = async (
  db: Db,
  requested: readonly Pick<AmountRequest, 'scope' | 'startsAt'>[],
): Promise<bigint[]> => {
  const rows = requested.map(({ scope, startsAt }) => ({ scope, period: new Date(startsAt) }));
  const found = await db.any(sql.type(z.object({ scope: z.string(), reserved: z.bigint() }))`
    select s.scope, s.reserved from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as requested(scope text, period timestamptz)
    join spending s on s.scope = requested.scope and s.period = requested.period`);
  const reservedOf = new Map(found.map(({ scope, reserved }) => [scope, reserved]));
  return requested.map(({ scope }) => reservedOf.get(scope) ?? 0n);
};

/** Deletes past periods. */
export const deleteOldSpending = (db: Db): Promise<unknown> =>
  db.query(sql.typeAlias('void')`delete from spending where period < app_now() - interval '2 days'`);

const startOf = (period: Budget['period'], at: number) => Math.floor(at / MS[period]) * MS[period];

/**
 * A release goes to the allotment of its own period: another one would exceed what it has reserved
 * of its cap.
 */
const reservationOf = (
  pool: Pool,
  allotment: Allotment,
  { size, amount }: { size: bigint; amount: bigint },
): Reservation => ({
  release: () => {
    allotment.left += amount;
    if (allotment.left <= 2n * size) return;
    // Other processes cannot use this amount, so the surplus over one allotment returns to the
    // table.
    const surplus = allotment.left - size;
    allotment.left = size;
    // A caller that needs more than is left waits for this statement.
    const { scope, startsAt } = allotment;
    const work = () => releaseAmount(pool, { scope, startsAt, amount: surplus });
    allotment.queue = allotment.queue.then(work).catch(() => {});
  },
});

/**
 * The next allotment of a process: as much as it has taken so far, within bounds. What is lost with
 * a process is then about what it has used, and one that dies again and again does not use up the
 * cap of all others. Many wallets have a cap of an hour, so its first allotment covers several
 * payments.
 */
const sizeOf = ({ period, cap }: Budget, { taken }: Allotment): bigint => {
  const most = cap / ALLOTMENTS_PER_CAP;
  const least = period === 'day' ? 0n : cap / FIRST_PER_CAP;
  if (taken >= most) return most;
  return taken > least ? taken : least;
};

/** Collects what is given back, until it is a thousandth of its cap. */
const createReturns = (pool: Pool) => {
  const collected = new LRUCache<string, bigint>({ max: MAX_ALLOTMENTS });
  return ({ scope, startsAt, amount, cap }: AmountRequest): void => {
    const key = `${scope}@${startsAt}`;
    const sum = (collected.get(key) ?? 0n) + amount;
    if (sum === 0n || sum < cap / FIRST_PER_CAP) return void collected.set(key, sum);
    collected.delete(key);
    // What fails to be given back makes the cap tighter.
    void releaseAmount(pool, { scope, startsAt, amount: sum }).catch(() => {});
  };
};

/**
 * Budgets that many processes share. Each process reserves allotments in advance, so most
 * reservations need no statement. An allotment that is lost with its process, or evicted from the
 * cache, only makes the cap tighter.
 */
export const createBudgets = (pool: Pool, clock: Clock): Budgets => {
  const allotments = new LRUCache<string, Allotment>({ max: MAX_ALLOTMENTS });
  const returns = createReturns(pool);
  // The first payments of many wallets in an hour arrive at the same time.
  const reserveInTable = batched((requested: readonly AmountRequest[]) => reserveAmounts(pool, requested), {
    keysOf: ({ scope }) => [scope],
  });

  const allotmentOf = (scope: string, startsAt: number): Allotment => {
    const key = `${scope}@${startsAt}`;
    const allotment = allotments.get(key) ?? {
      scope,
      startsAt,
      left: 0n,
      taken: 0n,
      queue: Promise.resolve(),
    };
    allotments.set(key, allotment);
    return allotment;
  };

  const enlarge = async (allotment: Allotment, budget: Budget, amount: bigint) => {
    const { scope, startsAt, left } = allotment;
    if (left >= amount) {
      allotment.left -= amount;
      return true;
    }
    // Concurrent callers must not use the rest, because it is already counted for this amount.
    allotment.left = 0n;
    const missing = amount - left;
    const size = sizeOf(budget, allotment);
    for (const requested of size > missing ? [size, missing] : [missing]) {
      if (!(await reserveInTable({ scope, startsAt, amount: requested, cap: budget.cap }))) continue;
      allotment.taken += requested;
      allotment.left += requested - missing;
      return true;
    }
    allotment.left += left;
    return false;
  };

  return {
    reserve: async (budget, amount, at = clock()) => {
      const allotment = allotmentOf(budget.scope, startOf(budget.period, at));
      const size = budget.cap / ALLOTMENTS_PER_CAP;
      const reservation = reservationOf(pool, allotment, { size, amount });
      if (allotment.left >= amount) {
        allotment.left -= amount;
        return reservation;
      }
      // One after the other, so that the callers of a burst do not reserve an allotment each.
      const result = allotment.queue.then(() => enlarge(allotment, budget, amount));
      allotment.queue = result.catch(() => {});
      return (await result) ? reservation : null;
    },
    giveBack: ({ scope, period, cap }, amount, at = clock()) =>
      returns({ scope, startsAt: startOf(period, at), amount, cap }),
    hasLeft: async ({ scope, period, cap }, amount) => {
      const startsAt = startOf(period, clock());
      return (
        allotmentOf(scope, startsAt).left >= amount ||
        (await reservedAmounts(pool, [{ scope, startsAt }]))[0]! + amount <= cap
      );
    },
    refillsInSeconds: (period) => Math.ceil((MS[period] - (clock() % MS[period])) / 1000),
  };
};
