import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { waitUntil } from '../../../../test/support/base/wait.ts';
import type { Scripted } from '../../../../test/support/stand-ins/scripted-server.ts';
import {
  at,
  PUBLIC_URL,
  startVendorApi,
  type VendorApi,
} from '../../../../test/support/stand-ins/vendor-api.ts';
import { extend, type Held } from '../../../../test/support/stand-ins/vendor-authorizations.ts';
import { type MeteredRoute, memoryStore, type PaywallStore } from '../main.ts';

/** Tabs whose ceiling their buyers extend. */
const RESOURCE = `${PUBLIC_URL}/chat`;
let api: VendorApi;
beforeEach(async () => {
  api = await startVendorApi();
});
afterEach(() => api.stop());

const ROUTE: MeteredRoute<Request> = { max: '$0.02', price: '$0.0005', tab: { extend: true } };
const MAX = 20_000n;
/** How many calls a ceiling pays for. */
const CALLS = 40;

const sell = (route = ROUTE, store: PaywallStore = memoryStore()) => {
  let runs = 0;
  const paywall = api.paywall({ store });
  const serve = paywall.metered(route, () => {
    runs += 1;
    return Response.json({ tokens: 120 });
  });
  const ask = async (headers: Record<string, string>, id: string = crypto.randomUUID()) => {
    const response = await serve(at('/chat', { ...headers, 'x-payment-request-id': id }));
    const body = (await response.json()) as Record<string, unknown>;
    return { status: response.status, usage: response.headers.get('quittance-usage'), body };
  };
  const useUp = async (headers: Record<string, string>) => {
    for (let call = 0; call < CALLS; call += 1) expect((await ask(headers)).status).toBe(200);
  };
  return { ask, useUp, paywall, runs: () => runs };
};
const open = () => api.authorize({ resource: RESOURCE, tab: true }, MAX);
const pay = (held: Held, added = MAX) => extend(held, crypto.randomUUID(), added);
const quotesFor = ({ quote_id }: Held) =>
  api.asked.filter(({ call, body }) => call === 'POST /v1/quote' && body?.extends === quote_id);
/** A store that replicas share. */
const shared = (): PaywallStore => {
  const { get, compareAndSet, take } = memoryStore();
  return { get, compareAndSet, take: take! };
};

test('a tab that is used up is offered an extension, and serves on with its token', async () => {
  const { ask, useUp, paywall, runs } = sell();
  const { headers, held } = open();
  await useUp(headers);
  const asked = await ask(headers);
  expect([asked.status, asked.body]).toMatchObject([
    402,
    {
      ...{ error: 'payment_required', details: { reason: 'authorization_used_up' } },
      ...{ max_amount: '20000', extends: held.quote_id },
    },
  ]);
  expect(quotesFor(held).map(({ body }) => body)).toEqual([
    {
      ...{ service_id: api.serviceId, expires_in_seconds: 900 },
      ...{ extends: held.quote_id, max_amount: '20000' },
    },
  ]);
  pay(held);
  expect(await ask(headers)).toMatchObject({ status: 200, usage: 'charged=500, left=19500' });
  await paywall.close();
  expect([held.status, held.used, runs()]).toEqual(['authorized', 20_500n, CALLS + 1]);
});

test('without extend a tab that is used up is captured, and the next one is offered', async () => {
  const { ask, useUp } = sell({ ...ROUTE, tab: true });
  const { headers, held } = open();
  await useUp(headers);
  const { body } = await ask(headers);
  expect([body.extends, quotesFor(held)]).toEqual([undefined, []]);
  await waitUntil(() => held.status === 'captured');
});

test('concurrent calls share one extension, which is counted once by all replicas of a store', async () => {
  const store = shared();
  const replicas = Array.from({ length: 4 }, () => sell(ROUTE, store));
  const { headers, held } = open();
  await replicas[0]!.useUp(headers);
  const all = (count: number) =>
    Promise.all(Array.from({ length: count }, (_, call) => replicas[call % 4]!.ask(headers)));
  const offers = await all(8);
  expect(offers.map(({ status, body }) => [status, body.extends])).toEqual(
    Array(8).fill([402, held.quote_id]),
  );
  for (let extended = 1; extended <= 3; extended += 1) {
    pay(held);
    const answers = await all(CALLS + 20);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(CALLS);
  }
  await Promise.all(replicas.map(({ paywall }) => paywall.close()));
  expect([held.used, held.max]).toEqual([4n * MAX, 4n * MAX]);
});

test('an addition that was not counted before its process ended is counted by the next one', async () => {
  const inner = shared();
  const store: PaywallStore = { ...inner };
  const first = sell(ROUTE, store);
  const { headers, held } = open();
  await first.useUp(headers);
  await first.ask(headers);
  await first.paywall.close();
  pay(held);
  let isDown = true;
  store.take = async (counter, amount, entries) => {
    const left = await inner.take!(counter, amount, entries);
    if (amount < 0n && isDown) throw new Error('the store is gone, and its answer is lost');
    return left;
  };
  expect((await first.ask(headers)).status).toBe(503);
  isDown = false;
  const next = sell(ROUTE, store);
  expect(await next.ask(headers)).toMatchObject({ status: 200, usage: 'charged=500, left=19500' });
  expect(await first.ask(headers)).toMatchObject({ status: 200, usage: 'charged=500, left=19000' });
});

test('a store that has lost its data begins with what is left of the extended ceiling', async () => {
  const first = sell();
  const { headers, held } = open();
  await first.useUp(headers);
  await first.ask(headers);
  pay(held);
  await first.ask(headers);
  await first.paywall.close();
  const next = sell();
  expect(await next.ask(headers)).toMatchObject({ status: 200, usage: 'charged=500, left=19000' });
  for (let call = 0; call < 38; call += 1) expect((await next.ask(headers)).status).toBe(200);
  expect((await next.ask(headers)).body).toMatchObject({ extends: held.quote_id });
  await next.paywall.close();
  // Another process finds a tab of which nothing is left, and it can still be extended.
  const last = sell();
  expect((await last.ask(headers)).body).toMatchObject({ extends: held.quote_id });
  pay(held);
  expect((await last.ask(headers)).status).toBe(200);
});

test('a number that a store has lost, without its ceiling, closes the tab', async () => {
  const store = shared();
  const { useUp, ask } = sell(ROUTE, store);
  const { headers, held } = open();
  await useUp(headers);
  const key = `quittance:${headers['x-settlement-id']}:left`;
  expect(await store.compareAndSet(key, '0', null, 0)).toBe(true);
  expect((await ask(headers)).body).toMatchObject({ details: { reason: 'authorization_closed' } });
  await waitUntil(() => held.status === 'captured');
  expect(held.used).toBe(MAX);
});

test.each<[string, (held: Held) => void]>([
  ['has ended', (held) => Object.assign(held, { status: 'captured' })],
  ['is at risk', (held) => Object.assign(held, { isAtRisk: true })],
])('a tab that %s is offered the next one', async (_, change) => {
  const { ask, useUp, paywall } = sell();
  const { headers, held } = open();
  await useUp(headers);
  await paywall.close();
  change(held);
  const { status, body } = await ask(headers);
  expect([status, body.max_amount, body.extends]).toEqual([402, '20000', undefined]);
});

test('an extension that the API refuses to create ends the tab, and the next one is offered', async () => {
  const { ask, useUp } = sell();
  const { headers, held } = open();
  await useUp(headers);
  api.faults.push(({ call, body }) =>
    call === 'POST /v1/quote' && body?.extends !== undefined
      ? { status: 409, body: { error: { code: 'authorization_closed', message: 'it has ended' } } }
      : null,
  );
  const { body } = await ask(headers);
  expect(body).toMatchObject({ error: 'payment_required', max_amount: '20000' });
  expect(body.extends).toBeUndefined();
  await waitUntil(() => held.status === 'captured');
});

test.each<[string, Scripted]>([
  ['is limited', { status: 429, body: { error: { code: 'rate_limited', message: 'wait' } }, retryAfter: 1 }],
  ['is unavailable', { status: 503, body: { error: { code: 'service_unavailable', message: 'later' } } }],
  ['does not answer', 'lost'],
  [
    'does not know the key any more',
    { status: 401, body: { error: { code: 'unauthorized', message: 'no' } } },
  ],
])(
  'while the API %s, a tab that is used up stays open, and its buyer may repeat the call',
  async (_, said) => {
    const { ask, useUp } = sell();
    const { headers, held } = open();
    await useUp(headers);
    let isFaulty = true;
    api.faults.push(({ call }) => (call === 'POST /v1/quote' && isFaulty ? said : null));
    const refused = await ask(headers);
    expect([refused.status, refused.body]).toEqual([
      503,
      { error: 'service_unavailable', details: { reason: 'no_quote' } },
    ]);
    isFaulty = false;
    await waitUntil(async () => (await ask(headers)).body.extends === held.quote_id);
    expect([held.status, api.calls().filter((call) => call === 'capture')]).toEqual(['authorized', []]);
    pay(held);
    expect((await ask(headers)).status).toBe(200);
  },
);

test('after twenty extensions the tab is captured, and the next one is offered', async () => {
  const { ask, useUp } = sell();
  const { headers, held } = open();
  for (let extended = 0; extended < 20; extended += 1) {
    await useUp(headers);
    expect((await ask(headers)).body.extends).toBe(held.quote_id);
    pay(held);
  }
  await useUp(headers);
  expect((await ask(headers)).body.extends).toBeUndefined();
  await waitUntil(() => held.status === 'captured');
  expect(held.used).toBe(21n * MAX);
});

test('a tab of an earlier day is captured, and the next one is offered', async () => {
  const { ask, useUp } = sell();
  const yesterday = new Date(Date.now() - 86_400_000).toISOString();
  const { headers, held } = api.authorize({ resource: RESOURCE, tab: true }, MAX, undefined, yesterday);
  await useUp(headers);
  expect((await ask(headers)).body.extends).toBeUndefined();
  await waitUntil(() => held.status === 'captured');
});

test('a tab that can be extended is captured at its threshold, which may be above its first ceiling', async () => {
  const { ask, useUp } = sell({ ...ROUTE, tab: { extend: true, threshold: '$0.03' } });
  const { headers, held } = open();
  await useUp(headers);
  await ask(headers);
  pay(held);
  for (let call = 0; held.status === 'authorized' && call < CALLS; call += 1) await ask(headers);
  await waitUntil(() => held.status === 'captured');
  expect(held.used).toBe(30_000n);
});

test('the options are checked where the route is declared', () => {
  const tab = (options: object) => () => sell({ ...ROUTE, tab: options as { extend: true } });
  expect(tab({ extend: 'yes' })).toThrow('tab.extend: use true');
  expect(tab({ threshold: '$0.03' })).toThrow('tab.threshold: use at most max');
  expect(tab({ Extend: true })).toThrow(/Extend/);
});
