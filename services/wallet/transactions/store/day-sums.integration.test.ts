import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import pg from 'pg';
import { connectPool, type Pool } from '../../../../shared/db/pool.ts';
import { readsOf } from '../../../../shared/db/reads.ts';
import { isoTime } from '../../../../shared/lib/clock.ts';
import { newId, newServiceId } from '../../../../shared/lib/id.ts';
import { waitFor } from '../../../../test/support/base/wait.ts';
import { createTestDatabase, waitingForLocks } from '../../../../test/support/servers/database.ts';
import type { TestDatabase } from '../../../../test/support/servers/database-handle.ts';
import { atOnce } from '../../../../test/support/servers/stack.ts';
import type { Movement } from '../model/transaction.ts';
import { recordMovements } from '../movements.ts';
import { salesSummary } from '../sales-summary.ts';
import { spendingSummary } from '../spending-summary.ts';
import { deleteTransactions, upsertMovements } from './transactions.ts';

let database: TestDatabase;
let admin: pg.Pool;
/** Those of two replicas. */
let pools: [Pool, Pool];

beforeAll(async () => {
  database = await createTestDatabase();
  admin = new pg.Pool({
    connectionString: database.adminUrl,
    options: '-c search_path=wallet,public',
    max: 4,
  });
  // Days are those of UTC, whatever the server is set to.
  await admin.query(
    `do $$ begin execute format('alter database %I set timezone to %L', current_database(), 'Pacific/Auckland'); end $$`,
  );
  const connect = () => connectPool(database.url('wallet'), { max: 4 });
  pools = [await connect(), await connect()];
});
afterAll(async () => {
  await Promise.all([...pools.map((pool) => pool.end()), admin.end()]);
  await database.drop();
});

const DAY_MS = 86_400_000;
const DAY_0 = Date.parse('2026-10-01T00:00:00Z');
const NOW = DAY_0 + 60 * DAY_MS;

type Fields = Partial<NonNullable<Movement['details']>>;
const movement = (
  objectId: string,
  status: Movement['status'],
  details: Fields | null,
  type: Movement['type'] = 'payment',
): Movement => ({
  objectId,
  type,
  status,
  txHash: null,
  details: details && {
    fromAccountId: null,
    toAccountId: null,
    amountMicro: 100n,
    feeMicro: 1n,
    serviceId: null,
    delegateId: null,
    item: null,
    createdAt: isoTime(DAY_0),
    ...details,
  },
});
const record = (movements: readonly Movement[], pool = pools[0]) => recordMovements({ pool })(movements);

/** The sums of all rows, read without the code of the service. */
const SUMS_OF_ROWS = `
  select side.account_id, side.side, (created_at at time zone 'UTC')::date::text as day, side.delegate_id, service_id::text,
    sum(amount)::text as amount, sum(fee_amount)::text as fee_amount, count(*)::text as transfers
  from transactions, lateral (
    select from_account_id, 'paid', transactions.delegate_id where type = 'payment'
    union all select to_account_id, 'sold', null where type = 'payment'
    union all select to_account_id, 'refunded', transactions.delegate_id where type = 'refund'
    union all select from_account_id, 'returned', null where type = 'refund'
  ) as side (account_id, side, delegate_id)
  where side.account_id is not null and status in ('confirmed', 'finalized') group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5`;
const STORED_SUMS = `
  select account_id, side, day::text, delegate_id, service_id::text, amount::text, fee_amount::text, transfers::text
  from day_sums where transfers <> 0 order by 1, 2, 3, 4, 5`;
const rowsOf = async (statement: string, values: readonly unknown[] = []) =>
  (await admin.query(statement, [...values])).rows as Record<string, string | null>[];
const expectSumsOfRows = async () => expect(await rowsOf(STORED_SUMS)).toEqual(await rowsOf(SUMS_OF_ROWS));

type Caller = { account_id: string; delegate_id?: string };
const summary = async ({ account_id, delegate_id }: Caller, input: object = {}) =>
  spendingSummary({ reads: readsOf(pools[1]), clock: () => NOW })(
    input as never,
    (delegate_id === undefined
      ? { kind: 'jwt', account_id }
      : { kind: 'delegate_key', account_id, delegate_id }) as never,
  );
const groupsOf = ({ groups }: Awaited<ReturnType<typeof summary>>) =>
  groups.map(({ key, spent, payment_count }) => `${key} ${spent} ${payment_count}`);

const [ALICE, BOB, SHOP] = ['acct_alice', 'acct_bob', 'acct_shop'];
const [ROBOT, OTHER] = ['del_robot', 'del_other'];
const SERVICES = [newServiceId(), newServiceId()];

/** An object whose events are its life. */
const objects = fc.record({
  type: fc.constantFrom('payment' as const, 'payment' as const, 'refund' as const, 'deposit' as const),
  payer: fc.constantFrom(ALICE, BOB, null),
  payee: fc.constantFrom(SHOP, BOB, null),
  delegate: fc.constantFrom(ROBOT, OTHER, null),
  service: fc.constantFrom(...SERVICES, null),
  amount: fc.integer({ min: 2, max: 1_000_000 }),
  // Often at the very end or begin of a day.
  at: fc
    .tuple(fc.nat(3), fc.constantFrom(0, 1, DAY_MS / 2, DAY_MS - 1))
    .map(([days, ms]) => DAY_0 + days * DAY_MS + ms),
  end: fc.constantFrom('confirmed' as const, 'finalized' as const, 'reversed' as const),
});

type Made = typeof objects extends fc.Arbitrary<infer T> ? T : never;

test('the sums are those of the rows, whatever happens in any order, repeated, and at two replicas at once', async () => {
  const life = (object: Made) => {
    const { type, payer, payee, delegate, service, amount, at, end } = object;
    const id = newId('stl');
    const details = {
      fromAccountId: payer ?? (payee === null ? ALICE : null),
      toAccountId: payee,
      delegateId: delegate,
      serviceId: service,
      amountMicro: BigInt(amount),
      createdAt: isoTime(at),
    };
    const events = [movement(id, 'confirmed', details, type)];
    // An event of settlement names the object alone, one of funding everything.
    if (end !== 'confirmed') events.push(movement(id, end, type === 'payment' ? null : details, type));
    return events;
  };
  await fc.assert(
    fc.asyncProperty(
      fc.array(objects, { minLength: 1, maxLength: 40 }),
      fc.infiniteStream(fc.nat()),
      async (made, chance) => {
        const next = () => chance.next().value as number;
        const events = made
          .flatMap((each) => life(each))
          .flatMap((event) => Array.from({ length: 1 + (next() % 2) }, () => event))
          .map((event) => ({ event, place: next() }))
          .sort((a, b) => a.place - b.place)
          .map(({ event }) => event);
        const halves = [events.filter((_, i) => i % 2 === 0), events.filter((_, i) => i % 2 === 1)];
        await Promise.all(
          halves.flatMap((half, i) => [
            record(half.slice(0, half.length / 2), pools[i]),
            record(half.slice(half.length / 2), pools[i]),
          ]),
        );
        await expectSumsOfRows();
      },
    ),
    { numRuns: 25 },
  );
  expect((await rowsOf(STORED_SUMS)).length).toBeGreaterThan(20);

  // What a caller is shown, of the same rows: any period, group and scope.
  const periods = fc.tuple(
    fc.integer({ min: -DAY_MS, max: 5 * DAY_MS }),
    fc.integer({ min: 1, max: 6 * DAY_MS }),
  );
  const times = fc.oneof(
    periods,
    fc.tuple(fc.constantFrom(0, DAY_MS, DAY_MS - 1, 1), fc.constantFrom(1, DAY_MS, DAY_MS + 1, 2 * DAY_MS)),
  );
  const groups = {
    day: "(created_at at time zone 'UTC')::date",
    service: 'service_id',
    delegate: 'delegate_id',
  };
  await fc.assert(
    fc.asyncProperty(
      times,
      fc.constantFrom('day' as const, 'service' as const, 'delegate' as const),
      fc.constantFrom({ account_id: ALICE }, { account_id: BOB }, { account_id: ALICE, delegate_id: ROBOT }),
      async ([offset, length], group_by, caller: Caller) => {
        const [from, to] = [isoTime(DAY_0 + offset), isoTime(DAY_0 + offset + length)];
        const within = `status <> 'reversed' and created_at >= $2 and created_at < $3 and coalesce(delegate_id = $4, $4 is null)`;
        const values = [caller.account_id, from, to, caller.delegate_id ?? null];
        const payments = `from transactions where from_account_id = $1 and type = 'payment' and ${within}`;
        const answer = await summary(caller, { from, to, group_by });
        const [total] = await rowsOf(
          `select coalesce(sum(amount), 0)::text as spent, coalesce(sum(fee_amount), 0)::text as fees, count(*)::text as count ${payments}`,
          values,
        );
        const [refunds] = await rowsOf(
          `select coalesce(sum(amount), 0)::text as sum from transactions where to_account_id = $1 and type = 'refund' and ${within}`,
          values,
        );
        expect(answer).toMatchObject({
          from,
          to,
          total_spent: total!.spent,
          total_fees: total!.fees,
          total_refunded: refunds!.sum,
          payment_count: Number(total!.count),
        });
        const expected = await rowsOf(
          `select ${groups[group_by]}::text as key, sum(amount)::text as spent, count(*)::text as count ${payments} group by 1`,
          values,
        );
        expect(new Set(groupsOf(answer))).toEqual(
          new Set(expected.map(({ key, spent, count }) => `${key} ${spent} ${count}`)),
        );
      },
    ),
    { numRuns: 60 },
  );
});

test('a day ends at midnight UTC', async () => {
  const payer = newId('acct');
  const at = (time: string) => movement(newId('stl'), 'confirmed', { fromAccountId: payer, createdAt: time });
  await record([
    at('2026-10-05T23:59:59.999Z'),
    at('2026-10-06T00:00:00.000Z'),
    at('2026-10-06T12:00:00.000Z'),
  ]);
  expect(groupsOf(await summary({ account_id: payer }, { from: '2026-10-01T00:00:00Z' }))).toEqual([
    '2026-10-05 100 1',
    '2026-10-06 200 2',
  ]);
});

test('a payment of a day long ago that is reversed is no part of its sum any more, and a refund that comes late is', async () => {
  const payer = newId('acct');
  const [kept, lost] = [newId('stl'), newId('stl')];
  const details = { fromAccountId: payer, toAccountId: SHOP, serviceId: SERVICES[0]! };
  await record([movement(kept, 'finalized', details), movement(lost, 'confirmed', details)]);
  const october = { from: isoTime(DAY_0), to: isoTime(DAY_0 + 31 * DAY_MS) };
  expect(groupsOf(await summary({ account_id: payer }, october))).toEqual(['2026-10-01 200 2']);
  await record([movement(lost, 'reversed', null)]);
  const refund = { toAccountId: payer, amountMicro: 7n, feeMicro: 0n };
  await record([movement(newId('ref'), 'confirmed', refund, 'refund')]);
  expect(await summary({ account_id: payer }, october)).toMatchObject({
    total_spent: '100',
    total_fees: '1',
    total_refunded: '7',
    payment_count: 1,
  });
  await record([movement(kept, 'reversed', null)]);
  expect(await summary({ account_id: payer }, october)).toMatchObject({ total_spent: '0', groups: [] });
});

test('the sums of an account add up while many statements change them at once', async () => {
  const [payer, vendor] = [newId('acct'), newId('acct')];
  await atOnce(40, (i) =>
    record(
      Array.from({ length: 5 }, () =>
        movement(newId('stl'), 'confirmed', { fromAccountId: payer, toAccountId: vendor, amountMicro: 10n }),
      ),
      pools[i % 2],
    ),
  );
  expect(await summary({ account_id: payer }, { from: isoTime(DAY_0) })).toMatchObject({
    total_spent: '2000',
    payment_count: 200,
  });
  await expectSumsOfRows();
});

test('a rebuild beside an event deletes its row with its sum, or neither', async () => {
  const details = { fromAccountId: newId('acct'), toAccountId: SHOP };
  const [first, second] = [
    movement(newId('stl'), 'confirmed', details),
    movement(newId('stl'), 'confirmed', details),
  ];
  await record([first]);
  // A sum that is wrong for whatever reason.
  await admin.query('update day_sums set amount = amount + 1');
  let rebuilding: Promise<void>;
  await pools[1].transaction(async (tx) => {
    await upsertMovements(tx, [second]);
    rebuilding = deleteTransactions(pools[0]);
    await waitFor(
      () => waitingForLocks(admin),
      (waiting) => waiting > 0,
    );
  });
  await rebuilding!;
  expect(await rowsOf(STORED_SUMS)).toEqual([]);
  await expectSumsOfRows();
  await Promise.all([record([first, second]), record([second, first], pools[1])]);
  expect(await summary({ account_id: details.fromAccountId }, { from: isoTime(DAY_0) })).toMatchObject({
    payment_count: 2,
  });
  await expectSumsOfRows();
});

test('a vendor sums its sales by day and service, a service key those of its service, and neither sees payers', async () => {
  const vendor = newId('acct');
  const [weather, maps] = [newServiceId(), newServiceId()];
  const sale = (serviceId: string, amountMicro: bigint, createdAt = isoTime(DAY_0)) =>
    movement(newId('stl'), 'finalized', {
      fromAccountId: ALICE,
      toAccountId: vendor,
      delegateId: ROBOT,
      serviceId,
      amountMicro,
      createdAt,
    });
  const lost = sale(maps, 1000n);
  await record([sale(weather, 10n), sale(maps, 20n), sale(maps, 40n, isoTime(DAY_0 + DAY_MS)), lost]);
  await record([
    movement(lost.objectId, 'reversed', null),
    movement(
      newId('ref'),
      'confirmed',
      { fromAccountId: vendor, toAccountId: ALICE, serviceId: maps, amountMicro: 5n, feeMicro: 0n },
      'refund',
    ),
  ]);
  const sales = async (input: object, key: object = { kind: 'jwt' }) =>
    salesSummary({ reads: readsOf(pools[1]), clock: () => NOW })(
      { from: isoTime(DAY_0), ...input } as never,
      { ...key, account_id: vendor } as never,
    );
  const totals = {
    from: isoTime(DAY_0),
    to: isoTime(NOW),
    total_sold: '70',
    total_refunded: '5',
    total_fees: '3',
    payment_count: 3,
  };
  expect(await sales({})).toEqual({
    ...totals,
    groups: [
      { key: '2026-10-01', sold: '30', payment_count: 2 },
      { key: '2026-10-02', sold: '40', payment_count: 1 },
    ],
  });
  expect(await sales({ group_by: 'service' })).toEqual({
    ...totals,
    groups: [
      { key: maps, sold: '60', payment_count: 2 },
      { key: weather, sold: '10', payment_count: 1 },
    ],
  });
  const key = { kind: 'service_key', service_id: weather };
  expect(await sales({ to: isoTime(DAY_0 + 1) }, key)).toMatchObject({
    total_sold: '10',
    total_refunded: '0',
    groups: [{ key: '2026-10-01', sold: '10' }],
  });
  expect(await sales({}, key)).toMatchObject({ total_sold: '10', total_refunded: '0', payment_count: 1 });
});
