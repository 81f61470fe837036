import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Principal } from '../../../shared/contract/principal.ts';
import type { Message } from '../../../shared/events/event.ts';
import { newId, newServiceId } from '../../../shared/lib/id.ts';
import {
  account,
  admin,
  ask,
  briefly,
  delegate,
  expectSoon,
  finalizedEvent,
  HASH,
  type Issued,
  issue,
  issuedEvent,
  type List,
  list,
  movedEvent,
  NEXT_HASH,
  publishAll,
  publishErased,
  publishOne,
  refusal,
  reversedEvent,
  SERVICE,
  startFixture,
  stopFixture,
  summary,
  VENDOR,
} from '../../../test/support/fixtures/transactions.ts';

beforeAll(startFixture);
afterAll(stopFixture);

test('a payment is one transaction of its payer and one of its vendor, and no other account sees it', async () => {
  const [payer, vendor] = [account(), account()];
  const payment = issue(payer, { vendor_account_id: vendor.account_id });
  await publishAll([issuedEvent(payment)]);
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
  // A delegate's id with the key of another account shows nothing either.
  expect((await list(delegate(account().account_id))).data).toEqual([]);
  expect(await summary(vendor)).toMatchObject({ total_spent: '0', payment_count: 0, groups: [] });
});

test('a payment and its refund name what was bought, to both sides', async () => {
  const [payer, vendor] = [account(), account()];
  const item = 'Ticket for the harbour tour';
  const parties = { from_account_id: vendor.account_id, to_account_id: payer.account_id };
  await publishAll([
    issuedEvent(issue(payer, { vendor_account_id: vendor.account_id, item })),
    movedEvent({ type: 'refund', ...parties, item }),
    // An event of an earlier release, and a payment of nothing that has a name.
    issuedEvent(issue(payer, { vendor_account_id: vendor.account_id })),
  ]);
  for (const who of [payer, vendor])
    await expectSoon(
      async () => (await list(who)).data.map((each) => [each.type, each.item]).sort(),
      [
        ['payment', null],
        ['payment', item],
        ['refund', item],
      ].sort(),
    );
});

test('an erased account keeps what its programs have bought elsewhere without the queries', async () => {
  const [leaving, staying] = [account(), account()];
  const item = 'https://api.example.com/report?secret=1';
  const elsewhere = { service_id: null, vendor_account_id: null, quote_id: null, rail: 'x402_out' } as const;
  await publishAll(
    [leaving, staying].flatMap((payer) => [
      issuedEvent(issue(payer, { item, ...elsewhere })),
      // The vendor has signed this one, and keeps it.
      issuedEvent(issue(payer, { item })),
    ]),
  );
  const itemsOf = async (who: Principal) => (await list(who)).data.map((each) => each.item).sort();
  for (const who of [leaving, staying]) await expectSoon(() => itemsOf(who), [item, item]);
  await publishErased(leaving);
  await expectSoon(() => itemsOf(leaving), ['https://api.example.com/report', item]);
  expect(await itemsOf(staying)).toEqual([item, item]);
});

/** The events of a payment and the transaction that results from them. */
const HISTORIES: readonly [string, (payment: Issued) => Message[], expected: string][] = [
  ['a confirmed payment', (p) => [issuedEvent(p)], `confirmed ${HASH[0]}`],
  ['a finalized payment', (p) => [issuedEvent(p), finalizedEvent(p)], `finalized ${HASH[0]}`],
  [
    'a payment finalized by another transaction after a fork',
    (p) => [issuedEvent(p), finalizedEvent(p, NEXT_HASH)],
    `finalized ${NEXT_HASH[0]}`,
  ],
  ['a reversed payment', (p) => [issuedEvent(p), reversedEvent(p)], `reversed ${HASH[0]}`],
];
const orders = <T>(items: readonly T[]): T[][] =>
  items.length < 2
    ? [[...items]]
    : [[...items], [...items].reverse(), [...items, items[0]!], [items[1]!, ...items, items[1]!]];

test.each(HISTORIES)(
  'the events of %s have one result in any order and repeated',
  async (_name, history, expected) => {
    for (const events of orders(history(issue(account())))) {
      const payer = account();
      const settlement_id = newId('stl');
      for (const { subject, payload } of events) {
        const own = { settlement_id, account_id: payer.account_id };
        await publishOne({ subject, payload: { ...payload, ...own } });
      }
      await expectSoon(
        async () => (await list(payer)).data.map(({ status, tx_hash }) => `${status} ${tx_hash![0]}`),
        [expected],
      );
    }
  },
);

test('64 payments with repeated events in random order end in the state of their histories', async () => {
  const payer = account();
  const payments = Array.from({ length: 64 }, (_, i) => {
    const [, history, expected] = HISTORIES[i % HISTORIES.length]!;
    const payment = issue(payer, { quote_amount: `${100_000 + i}` });
    return { payment, events: history(payment), expected };
  });
  const events = payments
    .flatMap((each) => each.events)
    .flatMap((event, i) => Array.from({ length: 1 + (i % 3) }, () => event))
    .map((event) => ({ event, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ event }) => event);
  await publishAll(events);
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

test('the pages of a list have each transaction once, also where many have the same time', async () => {
  const payer = account();
  const at = '2026-10-01T12:00:00.000Z';
  await publishAll([
    // Payments of an account to itself: each is one object and two transactions.
    ...Array.from({ length: 5 }, () =>
      issuedEvent(issue(payer, { issued_at: at, vendor_account_id: payer.account_id })),
    ),
    ...Array.from({ length: 7 }, () => issuedEvent(issue(payer, { issued_at: at }))),
    ...(['deposit', 'dev_fund'] as const).map((type) =>
      movedEvent({ type, to_account_id: payer.account_id, created_at: '2026-10-01T11:59:59.999Z' }),
    ),
    movedEvent({
      type: 'withdrawal',
      from_account_id: payer.account_id,
      created_at: '2026-10-01T12:00:00.001Z',
    }),
    movedEvent({ type: 'refund', from_account_id: VENDOR, to_account_id: payer.account_id }),
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

test('a list is filtered by direction, status, service and delegate, and only the payer sees the delegate', async () => {
  const [payer, vendor, robot, weather] = [account(), account(), newId('del'), newServiceId()];
  const robots = delegate(payer.account_id, robot);
  const details = { vendor_account_id: vendor.account_id, service_id: weather };
  const [byRobot, byHand] = [issue(robots, details), issue(payer, { vendor_account_id: vendor.account_id })];
  await publishAll([
    issuedEvent(byRobot),
    issuedEvent(byHand),
    reversedEvent(byHand),
    movedEvent({
      type: 'refund',
      from_account_id: vendor.account_id,
      to_account_id: payer.account_id,
      service_id: weather,
      delegate_id: robot,
    }),
    movedEvent({ type: 'withdrawal', from_account_id: payer.account_id }),
  ]);
  const types = async (who: Principal, filter: object) =>
    (await list(who, filter)).data.map(({ type, direction }) => `${type} ${direction}`).toSorted();
  await expectSoon(async () => (await types(payer, {})).length, 4);
  await expectSoon(() => types(payer, { status: 'reversed' }), ['payment out']);
  expect(await types(payer, { direction: 'in' })).toEqual(['refund in']);
  expect(await types(payer, { direction: 'out', type: 'payment' })).toEqual(['payment out', 'payment out']);
  expect(await types(payer, { type: 'withdrawal', direction: 'in' })).toEqual([]);
  expect(await types(payer, { service_id: weather })).toEqual(['payment out', 'refund in']);
  expect(await types(payer, { delegate_id: robot })).toEqual(['payment out', 'refund in']);
  expect(await types(payer, { delegate_id: robot, direction: 'out' })).toEqual(['payment out']);
  expect(await types(robots, { delegate_id: newId('del') })).toEqual([]);
  expect((await list(payer, { delegate_id: robot, direction: 'out' })).data[0]).toMatchObject({
    ...{ service_id: weather, delegate_id: robot },
  });

  expect(await types(vendor, { service_id: weather })).toEqual(['payment in', 'refund out']);
  expect((await list(vendor)).data.map(({ delegate_id }) => delegate_id)).toEqual([null, null, null]);
  expect(await types(vendor, { delegate_id: robot })).toEqual([]);
});

test('a transfer is found by its object and by its transaction, by its own sides only', async () => {
  const [payer, vendor] = [account(), account()];
  const [sought, other] = [1, 2].map(() => issue(payer, { vendor_account_id: vendor.account_id }));
  await publishAll([issuedEvent(sought!), finalizedEvent(other!, NEXT_HASH)]);
  await publishAll([issuedEvent(other!)]);
  await expectSoon(async () => (await list(payer)).data.length, 2);
  const found = async (caller: typeof payer, query: object) =>
    (await list(caller, query)).data.map(({ object_id }) => object_id);
  const { settlement_id } = sought!;
  expect(await found(payer, { object_id: settlement_id })).toEqual([settlement_id]);
  expect(await found(vendor, { object_id: settlement_id })).toEqual([settlement_id]);
  expect(await found(payer, { tx_hash: NEXT_HASH })).toEqual([other!.settlement_id]);
  expect(await found(payer, { tx_hash: NEXT_HASH, object_id: settlement_id })).toEqual([]);
  expect(await found(account(), { object_id: settlement_id })).toEqual([]);
});

test('a cursor is valid for its list, its caller and its filters alone', async () => {
  const payer = account();
  await publishAll([issuedEvent(issue(payer)), issuedEvent(issue(payer))]);
  await expectSoon(async () => (await list(payer)).data.length, 2);
  const { next_cursor: cursor } = await list(payer, { limit: '1' });
  expect((await list(payer, { limit: '1', cursor })).data).toHaveLength(1);
  for (const [who, input] of [
    [account(), {}],
    [delegate(payer.account_id), {}],
    [payer, { type: 'payment' }],
    [payer, { direction: 'out' }],
    [payer, { service_id: SERVICE }],
    [payer, { from: '2026-01-01T00:00:00Z' }],
  ] as const)
    expect(await refusal(list(who, { ...input, cursor }))).toBe('validation_error cursor');
});

test.each([
  ['an unknown type', 'listTransactions', { type: 'gift' }, 'type'],
  ['a day that does not exist', 'listTransactions', { from: '2026-02-30T00:00:00Z' }, 'from'],
  ['a time before 1970', 'listTransactions', { from: '0000-01-01T00:00:00Z' }, 'from'],
  ['a time without zone', 'listTransactions', { to: '2026-02-01T00:00:00' }, 'to'],
  ['a limit of 101', 'listTransactions', { limit: '101' }, 'limit'],
  ['an unknown field', 'listTransactions', { account_id: VENDOR }, 'account_id'],
  ['an unknown direction', 'listTransactions', { direction: 'up' }, 'direction'],
  ['a service id that is not one', 'listTransactions', { service_id: "x' or true --" }, 'service_id'],
  ['an unknown group', 'spendingSummary', { group_by: 'vendor' }, 'group_by'],
  [
    'a period that ends before it begins',
    'spendingSummary',
    { from: '2026-02-02T00:00:00Z', to: '2026-02-01T00:00:00Z' },
    'from',
  ],
  [
    'a period of more than a year',
    'spendingSummary',
    { from: '2024-02-02T00:00:00Z', to: '2026-02-01T00:00:00Z' },
    'from',
  ],
  ['an unknown field of the summary', 'spendingSummary', { cursor: 'x' }, 'cursor'],
])('%s is refused', async (_name, operation, input, field) => {
  expect(await refusal(ask(operation, account(), input))).toBe(`validation_error ${field}`);
});

test('a transaction without details is not shown', async () => {
  const payment = issue(account());
  await publishAll([finalizedEvent(payment)]);
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
