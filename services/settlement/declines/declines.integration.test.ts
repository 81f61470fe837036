import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ServiceError } from '../../../shared/contract/errors.ts';
import type { Principal } from '../../../shared/contract/principal.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { newId } from '../../../shared/lib/id.ts';
import {
  list,
  type Payer,
  pageOf,
  payWith,
  refusal,
  replica,
  seller,
} from '../../../test/support/fixtures/settlement/declines.ts';
import {
  admin,
  base,
  type DelegateKey,
  database,
  declineEvents,
  delegateOf,
  deps,
  paid,
  pay,
  quote,
  serviceKey,
  startFixture,
  stopFixture,
  underWay,
  until,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import { consumer } from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import { vendor } from '../../../test/support/fixtures/settlement/settlement-quotes.ts';
import { atOnce } from '../../../test/support/servers/stack.ts';
import { purgeOldDeclines } from './purge.ts';

beforeAll(startFixture);
afterAll(stopFixture);

const USDC = 1_000_000n;
const countRows = async (table: 'declines' | 'exhausted_limits', where: string, value: string) =>
  (await admin.query(`select from ${table} where ${where} = $1`, [value])).rowCount;
const eventsOf = (name: string, { account_id }: { account_id: string }) =>
  declineEvents.filter(({ event, ...payload }) => event === name && payload.account_id === account_id);

describe('nothing is recorded', () => {
  test('for a token that is not verified', async () => {
    const payer = consumer(1n);
    const q = quote();
    const [claims, signature] = q.quote_token.split('.') as [string, string];
    const forged = { quote_token: `${claims}.${[...signature].reverse().join('')}` };
    expect((await refusal(pay(payer, forged))).code).toBe('validation_error');
    expect((await refusal(payWith({ publicKeys: new Map() }, payer, q))).code).toBe('validation_error');
    expect(await countRows('declines', 'quote_id', q.quote_id)).toBe(0);
  });

  test('for a quote that the account has paid or is paying, and for a used attempt id', async () => {
    const payer = consumer(3n * USDC);
    const limited = await delegateOf(payer, { per_payment: 1n });
    const q = quote();
    await underWay(payer, q, 'first');
    expect((await refusal(pay(limited, q))).extras.safe_action).toBe('read_settlement');
    const whilePaused = await refusal(payWith({ isPaused: async () => true }, payer, q));
    expect(whilePaused.extras.safe_action).toBe('read_settlement');
    expect((await refusal(pay(payer, quote(5n * USDC), 'first'))).code).toBe('conflict');
    expect(await list(payer)).toEqual([]);
  });

  test('while records of the time are lost', async () => {
    const payer = consumer(1n);
    await admin.query(`insert into restores (taken_at, restored_at)
      values (app_now() - interval '30 minutes', app_now() + interval '1 minute')`);
    const findPayment = async () => {
      throw new ServiceError('service_unavailable', 'the chain cannot be read');
    };
    try {
      expect((await refusal(payWith({ findPayment }, payer, quote()))).extras.money_moved).toBe('unknown');
    } finally {
      await admin.query('delete from restores');
    }
    expect(await list(payer)).toEqual([]);
  });

  test('for an unreadable chain, and for an approval that waits', async () => {
    const payer = consumer();
    const asking = await delegateOf(payer, {}, null, { approval_above: '1' });
    expect((await refusal(payWith({ isChainReadable: async () => false }, payer, quote()))).code).toBe(
      'service_unavailable',
    );
    expect((await refusal(pay(asking, quote()))).code).toBe('approval_required');
    expect(await list(payer)).toEqual([]);
  });
});

describe('a decline is recorded once', () => {
  test('of 32 concurrent calls on two replicas, with one event', async () => {
    const payer = consumer(1n);
    const q = quote();
    const replicas = [replica(), replica()];
    await atOnce(32, (index) =>
      refusal(payWith({ recordDecline: replicas[index % 2] }, payer, q)).then(({ code }) =>
        expect(code).toBe('insufficient_funds'),
      ),
    );
    expect(await list(payer)).toHaveLength(1);
    await until(
      async () => eventsOf('declined', payer).length,
      (number) => number > 0,
    );
    expect(await countRows('declines', 'quote_id', q.quote_id)).toBe(1);
    expect(eventsOf('declined', payer)).toHaveLength(1);
  });

  test('for each quote, delegate or sign-in, and reason', async () => {
    const payer = consumer();
    const [first, second] = [
      await delegateOf(payer, { per_payment: 1n }),
      await delegateOf(payer, { per_payment: 1n }),
    ];
    const [q, other] = [quote(), quote()];
    for (let time = 0; time < 2; time += 1) {
      for (const [caller, of] of [
        [first, q],
        [first, other],
        [second, q],
      ] as const)
        await refusal(pay(caller, of));
      await refusal(payWith({ isPaused: async () => true }, first, q));
      await refusal(payWith({ isPaused: async () => true }, payer, q));
    }
    const shown = (await list(payer)).map(({ quote_id, delegate_id, reason }) => [
      quote_id,
      delegate_id,
      reason,
    ]);
    expect(shown).toEqual([
      [q.quote_id, null, 'payments_paused'],
      [q.quote_id, first.delegate_id, 'payments_paused'],
      [q.quote_id, second.delegate_id, 'per_payment'],
      [other.quote_id, first.delegate_id, 'per_payment'],
      [q.quote_id, first.delegate_id, 'per_payment'],
    ]);
  });
});

describe('GET /v1/declines', () => {
  test('a vendor sees the quote and the amount, and nothing about its payer', async () => {
    const payer = consumer(1n);
    const q = quote(2n * USDC);
    await refusal(pay(payer, q));
    const shown = {
      decline_id: expect.any(String),
      quote_id: q.quote_id,
      service_id: vendor.service_id,
      service_name: 'Weather',
      item: null,
      amount: '2000000',
      code: 'payer_declined',
      created_at: expect.any(String),
    };
    expect(await list(serviceKey, { quote_id: q.quote_id })).toEqual([shown]);
    expect(await list(seller, { role: 'vendor', quote_id: q.quote_id })).toEqual([shown]);
    // Neither as a payer, nor another service, nor another vendor.
    expect(await list(seller, { quote_id: q.quote_id })).toEqual([]);
    const stranger = { ...serviceKey, service_id: crypto.randomUUID() } as Principal;
    expect(await list(stranger, { quote_id: q.quote_id })).toEqual([]);
    expect(await list(consumer(), { role: 'vendor', quote_id: q.quote_id })).toEqual([]);
  });

  test('a payer filters by delegate, quote, service and code; a delegate sees its own', async () => {
    const payer = consumer();
    const [first, second] = [
      await delegateOf(payer, { per_payment: 1n }),
      await delegateOf(payer, {}, [crypto.randomUUID()]),
    ];
    const [q, other] = [quote(), quote()];
    await refusal(pay(first, q));
    await refusal(pay(second, other));
    const quotes = async (caller: Principal, query: object = {}) =>
      (await list(caller, query)).map(({ quote_id }) => quote_id);
    expect(await quotes(payer)).toEqual([other.quote_id, q.quote_id]);
    expect(await quotes(payer, { delegate_id: first.delegate_id })).toEqual([q.quote_id]);
    expect(await quotes(payer, { code: 'forbidden' })).toEqual([other.quote_id]);
    expect(await quotes(payer, { quote_id: q.quote_id })).toEqual([q.quote_id]);
    expect(await quotes(payer, { service_id: crypto.randomUUID() })).toEqual([]);
    expect(await quotes(first)).toEqual([q.quote_id]);
    expect(await quotes(first, { delegate_id: second.delegate_id })).toEqual([]);
    expect(await quotes(consumer())).toEqual([]);
    const page = await pageOf(payer, { limit: '1' });
    expect(page.data.map(({ quote_id }) => quote_id)).toEqual([other.quote_id]);
    expect(await quotes(payer, { limit: '1', cursor: page.next_cursor })).toEqual([q.quote_id]);
  });

  test.each<[string, Principal, object]>([
    ['a service key by delegate', serviceKey, { delegate_id: newId('del') }],
    ['a vendor by code', seller, { role: 'vendor', code: 'forbidden' }],
    ['a service key by role', serviceKey, { role: 'vendor' }],
  ])('%s: refused', async (_who, caller, query) => {
    expect((await refusal(list(caller, query))).code).toBe('validation_error');
  });
});

describe('events', () => {
  const settled = (payer: Payer, number: number) =>
    until(
      async () => eventsOf('declined', payer).length,
      (found) => found >= number,
    );

  test('a decline is published with the fields of both sides', async () => {
    const payer = consumer(1n);
    const q = quote();
    await refusal(pay(payer, q));
    await settled(payer, 1);
    const [shown] = await list(payer);
    expect(eventsOf('declined', payer)).toEqual([
      { event: 'declined', ...shown, account_id: payer.account_id, vendor_account_id: vendor.account_id },
    ]);
  });

  test('a used-up limit is published once for each period and each amount of the limit', async () => {
    const delegate = await delegateOf(consumer(), { daily: 2n * USDC });
    const exhausted = () =>
      eventsOf('delegateExhausted', delegate).map(({ limit, left, used, period }) => [
        limit,
        used,
        left,
        period,
      ]);
    await paid(delegate, quote(USDC));
    for (let time = 0; time < 3; time += 1) await refusal(pay(delegate, quote(5n * USDC)));
    await settled(delegate, 3);
    const today = new Date(base.clock.now()).toISOString().slice(0, 10);
    await until(
      async () => exhausted(),
      (found) => found.length > 0,
    );
    expect(exhausted()).toEqual([['2000000', '1000000', '1000000', today]]);
    // A raised limit that is used up is reported again.
    await admin.query('update delegates set daily = 3000000 where delegate_id = $1', [delegate.delegate_id]);
    await refusal(pay(delegate, quote(5n * USDC)));
    await until(
      async () => exhausted().length,
      (number) => number === 2,
    );
    expect(exhausted()[1]).toEqual(['3000000', '1000000', '2000000', today]);
  });
});

describe('a refusal is answered as without the record', () => {
  const calls: [string, Partial<Pool>][] = [
    ['fails', { any: () => Promise.reject(new Error('the database is gone')) }],
    ['does not answer', { any: () => new Promise<never>(() => {}) }],
  ];
  test.each(calls)('when the database %s', async (_what, pool) => {
    const payer = consumer(1n);
    const recordDecline = replica({ pool });
    const { code, extras } = await refusal(payWith({ recordDecline }, payer, quote()));
    expect([code, extras.money_moved]).toEqual(['insufficient_funds', 'no']);
    expect(await list(payer)).toEqual([]);
  });
});

test('declines are purged after 90 days, and the report of a total limit stays', async () => {
  const delegate: DelegateKey = await delegateOf(consumer(), { total: 1n });
  const daily = await delegateOf(consumer(), { daily: 1n });
  const old = async () => [
    (await list(delegate)).length,
    await countRows('exhausted_limits', 'delegate_id', delegate.delegate_id),
    await countRows('exhausted_limits', 'delegate_id', daily.delegate_id),
  ];
  await refusal(pay(delegate, quote()));
  await refusal(pay(daily, quote()));
  await database.withClock('89 days', purgeOldDeclines(deps));
  expect(await old()).toEqual([1, 1, 1]);
  await database.withClock('91 days', purgeOldDeclines(deps));
  expect(await old()).toEqual([0, 1, 0]);
});
