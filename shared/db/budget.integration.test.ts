import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { staysFor, waitFor } from '../../test/support/base/wait.ts';
import { createTestDatabase } from '../../test/support/servers/database.ts';
import type { TestDatabase } from '../../test/support/servers/database-handle.ts';
import { type Budget, type Budgets, createBudgets, type Reservation } from './budget.ts';
import { connectPool, type Pool } from './pool.ts';

const HOUR_MS = 3_600_000;
let database: TestDatabase;
let pool: Pool;
let now = Date.UTC(2030, 0, 1, 10, 59, 59, 500);
let scopes = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = await connectPool(database.url('settlement'), { max: 4 });
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

const budgetOf = (cap: bigint): Budget => {
  scopes += 1;
  return { scope: `s${scopes}`, period: 'hour', cap };
};
const replica = (): Budgets => createBudgets(pool, () => now);
/** The amounts of the successful reservations. */
const reservedOf = async (asked: readonly [Budgets, bigint][], budget: Budget): Promise<bigint> => {
  const all = await Promise.all(
    asked.map(async ([budgets, amount]) => ((await budgets.reserve(budget, amount)) === null ? 0n : amount)),
  );
  return all.reduce((sum, amount) => sum + amount, 0n);
};

test.each([0, 1, 2, 3, 4, 5, 6, 7])(
  'many concurrent reservations of two replicas never exceed the cap (%i)',
  async (seed) => {
    const budget = budgetOf(10_000n);
    const replicas = [replica(), replica()];
    let random = seed + 1;
    let reserved = 0n;
    for (let round = 0; round < 20; round += 1) {
      const asked = Array.from({ length: 40 }, (_, i): [Budgets, bigint] => {
        random = (random * 48_271) % 2_147_483_647;
        return [replicas[i % 2]!, BigInt(random % 3 === 0 ? 150 + (random % 50) : 1 + (random % 20))];
      });
      reserved += await reservedOf(asked, budget);
    }
    expect(reserved).toBeLessThanOrEqual(10_000n);
    expect(reserved).toBeGreaterThan(9_700n);
  },
);

test('a small reservation during the request of an allotment does not use the amount that the request includes', async () => {
  const budget = budgetOf(1000n);
  const budgets = replica();
  await budgets.reserve(budget, 1n);
  // 9 are left here, so 20 need a further allotment.
  const large = budgets.reserve(budget, 20n);
  await Promise.resolve();
  const small = budgets.reserve(budget, 5n);
  await Promise.all([large, small]);
  let more = 0n;
  while ((await budgets.reserve(budget, 1n)) !== null) more += 1n;
  expect(1n + 20n + 5n + more).toBe(1000n);
});

test('a released amount can be reserved again by every replica', async () => {
  const budget = budgetOf(1000n);
  const [one, other] = [replica(), replica()];
  const all = (await one.reserve(budget, 1000n)) as Reservation;
  expect(await other.reserve(budget, 1n)).toBeNull();
  expect(await one.hasLeft(budget, 1n)).toBe(false);
  all.release();
  const until = performance.now() + 5000;
  while (!(await other.hasLeft(budget, 900n)) && performance.now() < until);
  expect(await other.reserve(budget, 900n)).not.toBeNull();
  expect(await other.reserve(budget, 100n)).toBeNull();
  expect(await one.reserve(budget, 10n)).not.toBeNull();
});

test('what is given back can be reserved by every replica, and reaches the table in parts of a thousandth', async () => {
  const budget = budgetOf(10_000n);
  const [one, two] = [replica(), replica()];
  expect(await reservedOf([[one, 10_000n]], budget)).toBe(10_000n);
  const left = async () => (await two.hasLeft(budget, 1n)) as boolean;
  for (let times = 0; times < 9; times += 1) one.giveBack(budget, 1n);
  await staysFor(200, left, (isLeft) => !isLeft);
  one.giveBack(budget, 1n);
  await waitFor(left, (isLeft) => isLeft);
  // Ten, and no more.
  expect(await two.hasLeft(budget, 11n)).toBe(false);
  expect(await reservedOf([[two, 10n]], budget)).toBe(10n);
  // Nothing of another hour, in which less is reserved than is given back.
  one.giveBack(budget, 10n, now - HOUR_MS);
  await staysFor(200, left, (isLeft) => !isLeft);
});

test('a budget refills at the end of its hour and reports when that is', async () => {
  const budget = budgetOf(1000n);
  const budgets = replica();
  const late = (await budgets.reserve(budget, 1000n)) as Reservation;
  expect(await budgets.reserve(budget, 1n)).toBeNull();
  expect(budgets.refillsInSeconds('hour')).toBe(1);
  now += 1000;
  try {
    expect(budgets.refillsInSeconds('hour')).toBe(3600);
    expect(await budgets.reserve(budget, 600n)).not.toBeNull();
    // A release goes to the hour of its reservation.
    late.release();
    expect(await budgets.reserve(budget, 401n)).toBeNull();
    expect(await budgets.reserve(budget, 401n, now - HOUR_MS)).not.toBeNull();
    expect(await budgets.reserve(budget, 400n)).not.toBeNull();
  } finally {
    now -= 1000;
  }
});

test.each([
  ['day', 3000n],
  ['hour', 30_000n],
] as const)(
  '300 processes that die after a payment each leave the rest of the %s to the others',
  async (period, lost) => {
    const budget: Budget = { ...budgetOf(100_000n), period };
    for (let deaths = 0; deaths < 300; deaths += 1)
      expect(await replica().reserve(budget, 10n)).not.toBeNull();
    const survivor = replica();
    let more = 0n;
    while ((await survivor.reserve(budget, 10n)) !== null) more += 10n;
    expect(more).toBe(100_000n - lost);
  },
);
