import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { refusal } from '../../../../test/support/stand-ins/scripted-server.ts';
import { PUBLIC_URL, startVendorApi, type VendorApi } from '../../../../test/support/stand-ins/vendor-api.ts';
import { memoryStore, type PaywallOptions, type PaywallStore } from '../main.ts';

const RESOURCE = `${PUBLIC_URL}/forecast`;
let api: VendorApi;
beforeEach(async () => {
  api = await startVendorApi();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await api.stop();
});

const sell = (options: Partial<PaywallOptions> = {}, statuses = [200], prepaid = { units: 3 }) => {
  let runs = 0;
  const serve = api.paywall(options).protect({ price: '50000', prepaid }, () => {
    runs += 1;
    return new Response(`run ${runs}`, { status: statuses[Math.min(runs, statuses.length) - 1]! });
  });
  const ask = async (headers: Record<string, string>, id?: string) => {
    const named = id === undefined ? headers : { ...headers, 'x-payment-request-id': id };
    const response = await serve(new Request('http://vendor/forecast', { headers: named }));
    return { status: response.status, text: await response.text() };
  };
  return { ask, runs: () => runs };
};
const prepay = (units = 3, amount = '50000') => api.pay({ resource: RESOURCE, units }, { amount });
const consumed = (headers: Record<string, string>) =>
  api.settlements.get(headers['x-settlement-id']!)!.consumed.length;

test('each request consumes one of the quoted units, a repeat none, and after the last there is a new quote', async () => {
  const { ask, runs } = sell();
  const bill = JSON.parse((await ask({})).text);
  const claims = JSON.parse(Buffer.from(bill.quote_token.split('.')[0], 'base64url').toString());
  expect(claims.scope).toEqual({ resource: RESOURCE, units: 3 });
  const headers = prepay();
  for (const id of ['a', 'b', 'c']) expect((await ask(headers, id)).status).toBe(200);
  expect(await ask(headers, 'b')).toEqual({ status: 200, text: 'run 2' });
  expect([runs(), consumed(headers)]).toEqual([3, 3]);
  const over = await ask(headers, 'd');
  expect(over.status).toBe(402);
  expect(JSON.parse(over.text)).toMatchObject({ error: 'payment_required' });
  expect(runs()).toBe(3);
  const drawn = api.calls().filter((call) => call === 'consume').length;
  expect((await ask(headers, 'e')).status).toBe(402);
  expect(api.calls().filter((call) => call === 'consume')).toHaveLength(drawn);
});

test('requests that a payment does not pay for leave nothing in the store, for any number of request ids', async () => {
  const keys = new Set<string>();
  const inner = memoryStore();
  const store: PaywallStore = {
    get: inner.get,
    compareAndSet: async (key, expected, next, ttlMs) => {
      const done = await inner.compareAndSet(key, expected, next, ttlMs);
      // The shared quote is stored once.
      if (done && !key.startsWith('quote:')) keys[next === null ? 'delete' : 'add'](key);
      return done;
    },
  };
  const { ask, runs } = sell({ store });
  const [usedUp, other] = [prepay(1, '16667'), prepay(4)];
  expect((await ask(usedUp, 'a')).status).toBe(200);
  // Its record, and its lock, which ends by itself.
  expect(keys.size).toBe(2);
  for (let name = 0; name < 50; name += 1) {
    expect((await ask(usedUp, `u${name}`)).status).toBe(402);
    expect((await ask(other, `o${name}`)).status).toBe(402);
  }
  api.faults.push(({ call }) => (call.endsWith('/consume') ? refusal(429, 'rate_limited') : null));
  for (let name = 0; name < 50; name += 1) expect((await ask(prepay(), `l${name}`)).status).toBe(503);
  expect([keys.size, runs()]).toEqual([2, 1]);
});

test('a failed handler runs again for the same unit', async () => {
  const { ask } = sell({}, [500, 200]);
  const headers = prepay();
  expect((await ask(headers, 'a')).status).toBe(500);
  expect((await ask(headers, 'a')).status).toBe(200);
  expect(consumed(headers)).toBe(1);
});

test('a repeat after the window, or on a replica without a shared store, consumes another unit', async () => {
  const headers = prepay();
  const [one, other] = [sell(), sell({ store: memoryStore() })];
  await one.ask(headers, 'a');
  await other.ask(headers, 'a');
  expect(consumed(headers)).toBe(2);
  const now = Date.now();
  jest.spyOn(Date, 'now').mockImplementation(() => now + 600_001);
  expect((await one.ask(headers, 'a')).status).toBe(200);
  expect(consumed(headers)).toBe(3);
  expect((await other.ask(headers, 'a')).status).toBe(402);
});

test.each([
  ['more units than were sold for the price', () => prepay(4)],
  ['a lower price for the units', () => prepay(3, '49999')],
  ['units that are no number', () => api.pay({ resource: RESOURCE, units: '3' as never })],
  ['a settlement without units', () => api.pay({ resource: RESOURCE })],
])('%s gets payment_failed, and nothing is consumed', async (_, pay) => {
  const { ask, runs } = sell();
  const headers = pay();
  const { status, text } = await ask(headers, 'a');
  expect([status, JSON.parse(text).error]).toEqual([402, 'payment_failed']);
  expect([runs(), consumed(headers)]).toEqual([0, 0]);
});

test('more units at the same unit price are accepted', async () => {
  const { ask } = sell();
  expect((await ask(prepay(6, '100000'), 'a')).status).toBe(200);
});

test.each([
  ['settlement_exhausted', 1],
  ['settlement_expired', 2],
])(
  'a request whose unit was consumed is delivered after %s, which another request is told',
  async (code, units) => {
    const headers = prepay(units, String(16_667 * units));
    const { consumed: ids } = api.settlements.get(headers['x-settlement-id']!)!;
    let isLost = true;
    const losing: typeof fetch = async (...call) => {
      const response = await fetch(...call);
      if (isLost && String(call[0]).endsWith('/consume')) throw new TypeError('the connection broke');
      return response;
    };
    const { ask } = sell({ fetch: losing });
    expect((await ask(headers, 'a')).status).toBe(503);
    isLost = false;
    api.faults.push(({ call, body }) =>
      call.endsWith('/consume') && !ids.includes(String(body!.request_id)) ? refusal(409, code) : null,
    );
    for (const id of ['b', 'c']) {
      const { status, text } = await ask(headers, id);
      expect([status, JSON.parse(text)]).toMatchObject([
        402,
        { error: 'payment_required', details: { reason: code }, quote_token: expect.any(String) },
      ]);
    }
    expect(await ask(headers, 'a')).toEqual({ status: 200, text: 'run 1' });
    expect(api.calls().filter((call) => call === 'consume')).toHaveLength(3);
  },
);
