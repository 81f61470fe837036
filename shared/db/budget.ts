import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Clock } from '../lib/clock.ts';
import { batched } from './batched.ts';
import { type Db, type Pool, sql } from './pool.ts';

/** What may be reserved of one scope in each UTC hour or day. */
export type Budget = { scope: string; period: 'hour' | 'day'; cap: bigint };

/**
 * An amount that was reserved. Releasing it is for what was not used in the end; it is done once.
 */
export type Reservation = { release: () => void };

/** Budgets over a table `spending` of the service's own schema. */
export type Budgets = {
  /**
   * Null: less than the amount is left in the period.
   * @param at the moment whose period it is counted in
   */
  reserve: (budget: Budget, amount: bigint, at?: number) => Promise<Reservation | null>;
  /** Whether so much could be reserved now; promises nothing. */
  hasLeft: (budget: Budget, amount: bigint) => Promise<boolean>;
  /** Seconds until the running period ends and the budget refills. */
  refillsInSeconds: (period: Budget['period']) => number;
};

/** What this process has reserved in advance of one scope and period. */
type Allotment = { scope: string; startsAt: number; left: bigint; queue: Promise<unknown> };
type Asked = { scope: string; startsAt: number; amount: bigint; cap: bigint };

const ALLOTMENTS = 100n;
const MS = { hour: 3_600_000, day: 86_400_000 } as const;
const MAX_KEPT = 10_000;

/**
 * Reserves amounts of different scopes by one conditional statement, so that no sum ever passes its
 * cap, whoever races.
 * @returns in their order; false: that much is not left
 */
export const reserveAmounts = async (db: Db, asked: readonly Asked[]): Promise<boolean[]> => {
  const rows = asked.map(({ scope, startsAt, amount, cap }) => ({
    scope,
    period: new Date(startsAt),
    amount: String(amount),
    cap: String(cap),
  }));
  // In the order of their scopes, so that two workers wait for each other in one direction.
  const reserved = await db.anyFirst(sql.type(z.object({ scope: z.string() }))`
    with asked as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as asked(scope text, period timestamptz, amount bigint, cap bigint)
      where amount <= cap
    )
    insert into spending as s (scope, period, taken)
    select scope, period, amount from asked order by scope
    on conflict (scope, period) do update set taken = s.taken + excluded.taken
      where s.taken + excluded.taken <= (select cap from asked where asked.scope = excluded.scope)
    returning scope`);
  return asked.map(({ scope }) => reserved.includes(scope));
};

const releaseAmount = (
  db: Db,
  { scope, startsAt, amount }: Pick<Asked, 'scope' | 'startsAt' | 'amount'>,
): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update spending set taken = taken - ${amount}
    where scope = ${scope} and period = ${new Date(startsAt).toISOString()}::timestamptz`);

/** What is reserved of scopes, in their order. */
export const reservedAmounts = async (
  db: Db,
  asked: readonly Pick<Asked, 'scope' | 'startsAt'>[],
): Promise<bigint[]> => {
  const rows = asked.map(({ scope, startsAt }) => ({ scope, period: new Date(startsAt) }));
  const found = await db.any(sql.type(z.object({ scope: z.string(), taken: z.bigint() }))`
    select s.scope, s.taken from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as asked(scope text, period timestamptz)
    join spending s on s.scope = asked.scope and s.period = asked.period`);
  const takenOf = new Map(found.map(({ scope, taken }) => [scope, taken]));
  return asked.map(({ scope }) => takenOf.get(scope) ?? 0n);
};

/** Deletes periods that are over. */
export const deleteOldSpending = (db: Db): Promise<unknown> =>
  db.query(sql.typeAlias('void')`delete from spending where period < app_now() - interval '2 days'`);

/**
 * Budgets that many processes share. Each reserves allotments in advance, so the table is asked once
 * in many reservations. A allotment that is lost with its process, or forgotten because many others
 * were used since, only makes a cap tighter.
 */
export const createBudgets = (pool: Pool, clock: Clock): Budgets => {
  const allotments = new LRUCache<string, Allotment>({ max: MAX_KEPT });
  // The first payments of many wallets in an hour come together.
  const reserveInTable = batched((asked: readonly Asked[]) => reserveAmounts(pool, asked), {
    keysOf: ({ scope }) => [scope],
  });

  const startOf = (period: Budget['period'], at: number) => Math.floor(at / MS[period]) * MS[period];

  const allotmentOf = (scope: string, startsAt: number): Allotment => {
    const key = `${scope}@${startsAt}`;
    const allotment = allotments.get(key) ?? { scope, startsAt, left: 0n, queue: Promise.resolve() };
    allotments.set(key, allotment);
    return allotment;
  };

  /**
   * To the allotment that it came from: another hour's would hold more than was reserved of its cap.
   */
  const reservationOf = (allotment: Allotment, size: bigint, amount: bigint): Reservation => ({
    release: () => {
      allotment.left += amount;
      if (allotment.left <= 2n * size) return;
      // What lies here is refused to every other process, so the table gets back what is more than
      // a allotment.
      const surplus = allotment.left - size;
      allotment.left = size;
      // Whoever needs more than is left waits for it.
      const { scope, startsAt } = allotment;
      const work = () => releaseAmount(pool, { scope, startsAt, amount: surplus });
      allotment.queue = allotment.queue.then(work).catch(() => {});
    },
  });

  const enlarge = async (
    allotment: Allotment,
    { size, amount, cap }: Record<'size' | 'amount' | 'cap', bigint>,
  ) => {
    const { scope, startsAt, left } = allotment;
    if (left >= amount) {
      allotment.left -= amount;
      return true;
    }
    // Nobody else may use what is left meanwhile, or more would be handed out than was reserved.
    allotment.left = 0n;
    const missing = amount - left;
    for (const asked of size > missing ? [size, missing] : [missing]) {
      if (!(await reserveInTable({ scope, startsAt, amount: asked, cap }))) continue;
      allotment.left += asked - missing;
      return true;
    }
    allotment.left += left;
    return false;
  };

  return {
    reserve: async ({ scope, period, cap }, amount, at = clock()) => {
      const allotment = allotmentOf(scope, startOf(period, at));
      const size = cap / ALLOTMENTS;
      const reservation = reservationOf(allotment, size, amount);
      if (allotment.left >= amount) {
        allotment.left -= amount;
        return reservation;
      }
      // One after the other, or every caller of a burst would reserve a allotment of its own.
      const result = allotment.queue.then(() => enlarge(allotment, { size, amount, cap }));
      allotment.queue = result.catch(() => {});
      return (await result) ? reservation : null;
    },
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
