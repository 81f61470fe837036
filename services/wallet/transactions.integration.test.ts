import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import type { z } from 'zod';
import { forward } from '../../shared/bus/call.ts';
import type { Bus } from '../../shared/bus/connect.ts';
import { publish } from '../../shared/bus/publish.ts';
import type { Moved } from '../../shared/contract/funding.ts';
import { type settlement, wallet } from '../../shared/contract/index.ts';
import type { Principal } from '../../shared/contract/principal.ts';
import type { transactionOperations } from '../../shared/contract/wallet.transactions.ts';
import { newId, newServiceId } from '../../shared/lib/id.ts';
import { createTestBus, type TestBus } from '../../test/support/bus.ts';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts';
import { type ServiceProcess, startService } from '../../test/support/service-process.ts';
import { atOnce } from '../../test/support/stack.ts';

/**
 * Two replicas of the service over a real bus and database. The facts are published by the test as settlement and
 * funding tell them, so that their order and repeats are the test's to choose.
 */
type Issued = z.infer<typeof settlement.events.issued>;
type List = z.infer<typeof transactionOperations.listTransactions.output>;
type Summary = z.infer<typeof transactionOperations.spendingSummary.output>;

let database: TestDatabase;
let testBus: TestBus;
let replicas: ServiceProcess[] = [];
let [gateway, settlementBus, fundingBus]: Bus[] = [];
let admin: pg.Pool;

beforeAll(async () => {
  [database, testBus] = await Promise.all([createTestDatabase(), createTestBus()]);
  [gateway, settlementBus, fundingBus] = await Promise.all(
    (['gateway', 'settlement', 'funding'] as const).map(testBus.as),
  );
  admin = new pg.Pool({
    connectionString: database.adminUrl,
    options: '-c search_path=wallet,public',
    max: 2,
  });
  const env = { CURSOR_KEY: randomBytes(32).toString('base64url') };
  replicas = await atOnce(2, () => startService('wallet', env, { testBus, database }));
});

afterAll(async () => {
  expect(await Promise.all(replicas.map((replica) => replica.stop()))).toEqual([0, 0]);
  await admin.end();
  await Promise.all([database.drop(), testBus.stop()]);
});

const HASHES = ['5', '6', '7'].map((digit) => digit.repeat(80));
const [HASH, NEXT_HASH] = HASHES as [string, string];
const VENDOR = newId('acct');
const SERVICE = newServiceId();

const account = (account_id = newId('acct')) =>
  ({ kind: 'jwt', account_id, session_id: 's', auth_time: 0 }) satisfies Principal;
const delegate = (account_id: string, delegate_id = newId('del')) =>
  ({
    kind: 'delegate_key',
    account_id,
    delegate_id,
    wallet_id: newId('wal'),
    key_id: 'k',
  }) satisfies Principal;

const ask = <T>(operation: string, who: Principal, input: object = {}): Promise<T> =>
  forward(gateway!, wallet, operation, input, who, { timeoutMs: 5000, headers: {} }) as Promise<T>;
const list = (who: Principal, input: object = {}) => ask<List>('listTransactions', who, input);
const summary = (who: Principal, input: object = {}) => ask<Summary>('spendingSummary', who, input);
const refusal = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    ({ code, message }: { code: string; message: string }) => `${code} ${message.split(':')[0]}`,
  );

let told = 0;
/** Every telling has an id of its own, so that the stream drops no repeat. */
const tell = (subject: string, payload: object): Promise<void> => {
  told += 1;
  const bus = subject.startsWith('evt.settlement') ? settlementBus! : fundingBus!;
  return publish(bus, { subject, msgId: `t${told}`, payload });
};

const issue = (payer: Principal & { account_id: string }, rest: Partial<Issued> = {}): Issued => ({
  settlement_id: newId('stl'),
  quote_id: newId('q'),
  tx_hash: HASH,
  account_id: payer.account_id,
  delegate_id: 'delegate_id' in payer ? (payer.delegate_id as string) : null,
  wallet_id: newId('wal'),
  service_id: SERVICE,
  vendor_account_id: VENDOR,
  quote_amount: '1000000',
  fee_amount: '10000',
  issued_at: new Date().toISOString(),
  ...rest,
});
type Told = { subject: string; payload: object };
const issuedFact = (payload: Issued): Told => ({ subject: 'evt.settlement.issued', payload });
const finalizedFact = ({ settlement_id, quote_id }: Issued, tx_hash = HASH): Told => ({
  subject: 'evt.settlement.finalized',
  payload: { settlement_id, quote_id, tx_hash },
});
const reversedFact = ({ settlement_id, quote_id }: Issued): Told => ({
  subject: 'evt.settlement.reversed',
  payload: { settlement_id, quote_id, redeemed: true },
});
const movedFact = (rest: Partial<Moved> & Pick<Moved, 'type'>): Told => ({
  subject: 'evt.funding.moved',
  payload: {
    object_id: newId('fund'),
    status: 'confirmed',
    tx_hash: HASH,
    amount: '7',
    from_account_id: null,
    to_account_id: null,
    service_id: null,
    delegate_id: null,
    created_at: new Date().toISOString(),
    ...rest,
  } satisfies Moved,
});
const tellAll = (facts: readonly Told[]) =>
  Promise.all(facts.map(({ subject, payload }) => tell(subject, payload)));

/** Reads until it is as expected; the last reading is compared, so that a failure shows it. */
const expectSoon = async <T>(read: () => Promise<T>, expected: unknown): Promise<void> => {
  for (let tries = 0; tries < 100; tries += 1) {
    try {
      expect(await read()).toEqual(expected);
      return;
    } catch {
      await sleep(50);
    }
  }
  expect(await read()).toEqual(expected);
};
const briefly = ({ data }: List) =>
  data.map(({ type, direction, amount, fee_amount, status }) =>
    [type, direction, amount, fee_amount, status].join(' '),
  );

test('a payment is one transaction for its payer and one for its vendor; nobody else sees it', async () => {
  const [payer, vendor] = [account(), account()];
  const payment = issue(payer, { vendor_account_id: vendor.account_id });
  await tellAll([issuedFact(payment)]);
  await expectSoon(async () => briefly(await list(payer)), ['payment out 1000000 10000 confirmed']);
  expect(briefly(await list(vendor))).toEqual(['payment in 990000 10000 confirmed']);
  const [[out], [got]] = [(await list(payer)).data, (await list(vendor)).data];
  expect(out).toMatchObject({
    transaction_id: expect.stringMatching(/^txn_/),
    tx_hash: HASH,
    object_id: payment.settlement_id,
    created_at: payment.issued_at,
  });
  expect(got!.transaction_id).not.toBe(out!.transaction_id);
  expect(await list(account())).toEqual({ data: [], next_cursor: null });
  // The delegate's id with another account's key shows nothing either.
  expect((await list(delegate(account().account_id))).data).toEqual([]);
  expect(await summary(vendor)).toMatchObject({ total_spent: '0', payment_count: 0, groups: [] });
});

/** What becomes of a payment, fact by fact, and what is read in the end. */
const STORIES: readonly [string, (payment: Issued) => Told[], expected: string][] = [
  ['confirmed', (p) => [issuedFact(p)], `confirmed ${HASH[0]}`],
  ['finalized', (p) => [issuedFact(p), finalizedFact(p)], `finalized ${HASH[0]}`],
  [
    'forked, then final by another transaction',
    (p) => [issuedFact(p), finalizedFact(p, NEXT_HASH)],
    `finalized ${NEXT_HASH[0]}`,
  ],
  ['reversed', (p) => [issuedFact(p), reversedFact(p)], `reversed ${HASH[0]}`],
];
const orders = <T>(items: readonly T[]): T[][] =>
  items.length < 2
    ? [[...items]]
    : [[...items], [...items].reverse(), [...items, items[0]!], [items[1]!, ...items, items[1]!]];

test.each(STORIES)('facts in any order and repeated, one by one: %s', async (_name, story, expected) => {
  for (const facts of orders(story(issue(account())))) {
    const payer = account();
    const settlement_id = newId('stl');
    for (const { subject, payload } of facts) {
      const own = 'account_id' in payload ? { account_id: payer.account_id } : {};
      await tell(subject, { ...payload, settlement_id, ...own });
    }
    await expectSoon(
      async () => (await list(payer)).data.map(({ status, tx_hash }) => `${status} ${tx_hash![0]}`),
      [expected],
    );
  }
});

test('64 at a time, each fact up to three times, in no order: every payment ends as its story does', async () => {
  const payer = account();
  const payments = Array.from({ length: 64 }, (_, i) => {
    const [, story, expected] = STORIES[i % STORIES.length]!;
    const payment = issue(payer, { quote_amount: `${100_000 + i}` });
    return { payment, facts: story(payment), expected };
  });
  const facts = payments
    .flatMap((each) => each.facts)
    .flatMap((fact, i) => Array.from({ length: 1 + (i % 3) }, () => fact))
    .map((fact) => ({ fact, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ fact }) => fact);
  await tellAll(facts);
  await expectSoon(
    async () =>
      new Map(
        (await list(payer, { limit: '100' })).data.map(({ object_id, status, tx_hash }) => [
          object_id,
          `${status} ${tx_hash![0]}`,
        ]),
      ),
    new Map(payments.map(({ payment, expected }) => [payment.settlement_id, expected])),
  );
  const spent = payments.filter(({ expected }) => !expected.startsWith('reversed'));
  const sum = spent.reduce((total, { payment }) => total + BigInt(payment.quote_amount), 0n);
  expect(await summary(payer)).toMatchObject({
    total_spent: `${sum}`,
    total_fees: `${10_000 * spent.length}`,
    payment_count: 48,
  });
});

test('a page after another is the whole list, each transaction once, also where many have one time', async () => {
  const payer = account();
  const at = '2026-10-01T12:00:00.000Z';
  await tellAll([
    // To itself: one object, two transactions.
    ...Array.from({ length: 5 }, () =>
      issuedFact(issue(payer, { issued_at: at, vendor_account_id: payer.account_id })),
    ),
    ...Array.from({ length: 7 }, () => issuedFact(issue(payer, { issued_at: at }))),
    ...(['deposit', 'dev_fund'] as const).map((type) =>
      movedFact({ type, to_account_id: payer.account_id, created_at: '2026-10-01T11:59:59.999Z' }),
    ),
    movedFact({
      type: 'withdrawal',
      from_account_id: payer.account_id,
      created_at: '2026-10-01T12:00:00.001Z',
    }),
    movedFact({ type: 'refund', from_account_id: VENDOR, to_account_id: payer.account_id }),
  ]);
  await expectSoon(async () => (await list(payer, { limit: '100' })).data.length, 21);
  const whole = (await list(payer, { limit: '100' })).data;
  for (const limit of [1, 2, 5, 20]) {
    const seen: List['data'] = [];
    let cursor: string | null = null;
    do {
      const page: List = await list(payer, { limit: `${limit}`, ...(cursor !== null && { cursor }) });
      expect(page.data.length).toBeLessThanOrEqual(limit);
      seen.push(...page.data);
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(seen).toEqual(whole);
  }
  expect(new Set(whole.map(({ transaction_id }) => transaction_id)).size).toBe(21);
  expect(whole.map(({ created_at }) => created_at)).toEqual(
    whole
      .map(({ created_at }) => created_at)
      .toSorted()
      .reverse(),
  );

  const types = async (filter: object) =>
    (await list(payer, filter)).data.map(({ type, direction }) => `${type} ${direction}`);
  expect(await types({ type: 'deposit' })).toEqual(['deposit in']);
  expect(await types({ type: 'refund' })).toEqual(['refund in']);
  expect(await types({ to: at })).toHaveLength(2);
  expect(await types({ from: '2026-10-01T12:00:00.001Z' })).toEqual(['refund in', 'withdrawal out']);
  expect(await types({ from: at, to: '2026-10-01T12:00:00.001Z' })).toHaveLength(17);
  expect(await types({ from: at, to: at })).toEqual([]);
});

test('a cursor is for its list, its caller and its filters', async () => {
  const payer = account();
  await tellAll([issuedFact(issue(payer)), issuedFact(issue(payer))]);
  await expectSoon(async () => (await list(payer)).data.length, 2);
  const { next_cursor: cursor } = await list(payer, { limit: '1' });
  expect((await list(payer, { limit: '1', cursor })).data).toHaveLength(1);
  for (const [who, input] of [
    [account(), {}],
    [delegate(payer.account_id), {}],
    [payer, { type: 'payment' }],
    [payer, { from: '2026-01-01T00:00:00Z' }],
  ] as const)
    expect(await refusal(list(who, { ...input, cursor }))).toBe('validation_error cursor');
});

test.each([
  ['an unknown type', 'listTransactions', { type: 'gift' }, 'type'],
  ['a day that is none', 'listTransactions', { from: '2026-02-30T00:00:00Z' }, 'from'],
  ['a time before 1970', 'listTransactions', { from: '0000-01-01T00:00:00Z' }, 'from'],
  ['a time without zone', 'listTransactions', { to: '2026-02-01T00:00:00' }, 'to'],
  ['a limit of 101', 'listTransactions', { limit: '101' }, 'limit'],
  ['an unknown field', 'listTransactions', { account_id: VENDOR }, 'account_id'],
  ['an unknown group', 'spendingSummary', { group_by: 'vendor' }, 'group_by'],
  [
    'a time backwards',
    'spendingSummary',
    { from: '2026-02-02T00:00:00Z', to: '2026-02-01T00:00:00Z' },
    'from',
  ],
  [
    'more than a year',
    'spendingSummary',
    { from: '2024-02-02T00:00:00Z', to: '2026-02-01T00:00:00Z' },
    'from',
  ],
  ['an unknown field of the summary', 'spendingSummary', { cursor: 'x' }, 'cursor'],
])('refused: %s', async (_name, operation, input, field) => {
  expect(await refusal(ask(operation, account(), input))).toBe(`validation_error ${field}`);
});

test('spending by day, service and delegate; refunds apart; a delegate sums up its own', async () => {
  const payer = account();
  const [robot, other] = [delegate(payer.account_id), delegate(payer.account_id)];
  const [weather, maps] = [newServiceId(), newServiceId()];
  const day = (date: string, time = '12:00:00.000') => ({ issued_at: `${date}T${time}Z` });
  await tellAll([
    issuedFact(
      issue(payer, {
        quote_amount: '100',
        fee_amount: '1',
        service_id: weather,
        ...day('2026-10-01', '23:59:59.999'),
      }),
    ),
    issuedFact(
      issue(robot, {
        quote_amount: '200',
        fee_amount: '2',
        service_id: weather,
        ...day('2026-10-02', '00:00:00.000'),
      }),
    ),
    issuedFact(
      issue(robot, { quote_amount: '400', fee_amount: '4', service_id: maps, ...day('2026-10-02') }),
    ),
    issuedFact(
      issue(other, { quote_amount: '800', fee_amount: '8', service_id: maps, ...day('2026-10-04') }),
    ),
    ...((lost) => [issuedFact(lost), reversedFact(lost)])(
      issue(robot, { quote_amount: '5000', fee_amount: '50', ...day('2026-10-02', '12:00:00.001') }),
    ),
    movedFact({
      type: 'refund',
      amount: '50',
      to_account_id: payer.account_id,
      from_account_id: VENDOR,
      delegate_id: robot.delegate_id,
      created_at: '2026-10-03T00:00:00.000Z',
    }),
    movedFact({
      type: 'refund',
      amount: '7',
      status: 'reversed',
      to_account_id: payer.account_id,
      from_account_id: VENDOR,
      created_at: '2026-10-03T00:00:00.000Z',
    }),
    movedFact({
      type: 'withdrawal',
      amount: '9',
      from_account_id: payer.account_id,
      created_at: '2026-10-03T00:00:00.000Z',
    }),
  ]);
  await expectSoon(async () => (await list(payer)).data.length, 8);
  const october = { from: '2026-10-01T00:00:00Z', to: '2026-11-01T00:00:00Z' };
  const totals = {
    from: '2026-10-01T00:00:00.000Z',
    to: '2026-11-01T00:00:00.000Z',
    total_spent: '1500',
    total_refunded: '50',
    total_fees: '15',
    payment_count: 4,
  };
  const group = (key: string | null, spent: string, payment_count: number) => ({ key, spent, payment_count });

  expect(await summary(payer, october)).toEqual({
    ...totals,
    groups: [group('2026-10-01', '100', 1), group('2026-10-02', '600', 2), group('2026-10-04', '800', 1)],
  });
  expect(await summary(payer, { ...october, group_by: 'service' })).toEqual({
    ...totals,
    groups: [group(maps, '1200', 2), group(weather, '300', 2)],
  });
  expect(await summary(payer, { ...october, group_by: 'delegate' })).toEqual({
    ...totals,
    groups: [group(other.delegate_id, '800', 1), group(robot.delegate_id, '600', 2), group(null, '100', 1)],
  });
  expect(await summary(robot, { ...october, group_by: 'service' })).toMatchObject({
    total_spent: '600',
    total_refunded: '50',
    payment_count: 2,
    groups: [group(maps, '400', 1), group(weather, '200', 1)],
  });
  expect(await summary(other, october)).toMatchObject({ total_spent: '800', total_refunded: '0' });
  expect(await summary(payer, { from: '2026-10-02T00:00:00Z', to: '2026-10-04T12:00:00Z' })).toMatchObject({
    total_spent: '600',
    total_refunded: '50',
  });
  expect(briefly(await list(robot))).toEqual([
    'refund in 50 0 confirmed',
    'payment out 5000 50 reversed',
    'payment out 400 4 confirmed',
    'payment out 200 2 confirmed',
  ]);
  expect(await summary(account(), october)).toMatchObject({
    total_spent: '0',
    total_refunded: '0',
    groups: [],
  });
});

test('the default time ends now by the database’s clock', async () => {
  const payer = account();
  await tellAll([issuedFact(issue(payer))]);
  await expectSoon(async () => (await summary(payer)).total_spent, '1000000');
  await database.withClock('40 days', () => expectSoon(async () => (await summary(payer)).total_spent, '0'));
});

test('a fact that names nobody yet is seen by nobody', async () => {
  const payment = issue(account());
  await tellAll([finalizedFact(payment)]);
  await expectSoon(
    async () =>
      (
        await admin.query('select status, amount from transactions where object_id = $1', [
          payment.settlement_id,
        ])
      ).rows,
    [{ status: 'finalized', amount: null }],
  );
});
