import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import {
  at,
  RESOURCE,
  readAnswer,
  reasonOf,
  type Sell,
  sellBy,
  startVendorApi,
  type VendorApi,
} from '../../../../test/support/stand-ins/vendor-api.ts';
import { memoryStore } from '../main.ts';

let api: VendorApi;
beforeEach(async () => {
  api = await startVendorApi();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await api.stop();
});
const sell: Sell = (...settings) => sellBy(api, ...settings);
const failing = () => new Response('no', { status: 500 });

describe('one delivery', () => {
  test('the handler runs once, the same request gets the same answer, and another one gets payment_failed without a call', async () => {
    const { serve, deliveries } = sell();
    const headers = { ...api.pay({ resource: RESOURCE }), 'x-payment-request-id': 'r1' };
    const first = await readAnswer(serve(at('/report', headers)));
    expect(first).toMatchObject({ status: 200, body: { report: 'yes' } });
    expect(first.headers.get('cache-control')).toBe('private, no-store');
    const again = await readAnswer(serve(at('/report', headers)));
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('x-payment-replayed')).toBe('true');
    const others = [
      at('/report?other', headers),
      at('/report', { ...headers, 'x-payment-request-id': 'r2' }),
      at('/report', headers, { method: 'POST', body: 'x' }),
    ];
    for (const other of others) expect(await reasonOf(serve(other))).toBe('402 payment_failed spent');
    expect(deliveries).toHaveLength(1);
    expect(api.calls()).toEqual(['verify', 'redeem']);
  });

  test('a payment of a quote that the paywall has created for this address and price needs only the redeem', async () => {
    const { serve } = sell();
    const quoteFor = async (path: string) => {
      const { body } = await readAnswer(serve(at(path)));
      return JSON.parse(Buffer.from(body.quote_token.split('.')[0], 'base64url').toString()).quote_id;
    };
    const paid = api.pay({ resource: RESOURCE }, { quote_id: await quoteFor('/report') });
    expect((await serve(at('/report', paid))).status).toBe(200);
    expect(api.calls()).toEqual(['quote', 'redeem']);
    // The API tells what the payment of another address has paid for.
    const elsewhere = { resource: `${RESOURCE}/other` };
    const other = api.pay(elsewhere, { quote_id: await quoteFor('/report/other') });
    expect(await reasonOf(serve(at('/report', other)))).toBe('402 payment_failed other_resource');
    expect(api.calls()).toEqual(['quote', 'redeem', 'quote', 'verify']);
  });

  test.each([
    ['', undefined, {}],
    [' of units', { units: 3 }, { units: 3 }],
  ])('a payment%s with a record is delivered after a higher price', async (_, prepaid, units) => {
    const store = memoryStore();
    let runs = 0;
    const selling = (price: string) =>
      api.paywall({ store }).protect({ price, ...(prepaid && { prepaid }) }, () => {
        runs += 1;
        return new Response('the report', { status: runs === 1 ? 500 : 200 });
      });
    const headers = api.pay({ resource: RESOURCE, ...units });
    api.faults.push(({ call }) => (/redeem|consume/.test(call) ? 'lost' : null));
    const [before, dearer] = [selling('50000'), selling('50001')];
    const statusOf = async (serve: typeof before) => {
      const response = await serve(at('/report', headers));
      await response.text();
      return response.status;
    };
    expect(await statusOf(before)).toBe(503);
    api.faults.pop();
    const statuses = [await statusOf(dearer), await statusOf(dearer), await statusOf(dearer)];
    expect([statuses, runs]).toEqual([[500, 200, 200], 2]);
    const others = api.pay({ resource: RESOURCE, ...units });
    expect(await reasonOf(dearer(at('/report', others)))).toBe('402 payment_failed amount_too_small');
  });

  test('of 50 concurrent requests on two replicas with one store one runs the handler, and the others get 503', async () => {
    const store = memoryStore();
    const replicas = [sell(undefined, { store }), sell(undefined, { store })];
    const headers = api.pay({ resource: RESOURCE });
    const said = await Promise.all(
      Array.from(
        { length: 50 },
        async (_, i) => (await replicas[i % 2]!.serve(at('/report', headers))).status,
      ),
    );
    expect(replicas.flatMap(({ deliveries }) => deliveries)).toHaveLength(1);
    expect(new Set(said)).toEqual(new Set([200, 503]));
  });

  test('of replicas without a shared store one delivers, because redeem succeeds once', async () => {
    const replicas = [sell(), sell()];
    const headers = api.pay({ resource: RESOURCE });
    const said = await Promise.all(replicas.map(({ serve }) => reasonOf(serve(at('/report', headers)))));
    expect(said.sort()).toEqual(['200', '402 payment_failed spent']);
    expect(replicas.flatMap(({ deliveries }) => deliveries)).toHaveLength(1);
  });

  test.each([
    ['throws', () => Promise.reject(new Error('broken')), 'thrown'],
    ['answers 500', failing, 500],
    ['answers 429', () => new Response(null, { status: 429 }), 429],
    ['breaks off its stream', () => new Response(brokenStream()), 'thrown'],
  ])(
    'a handler that %s runs again for the same request with the same delivery id and one redeem',
    async (_, answer, seen) => {
      const { serve, deliveries } = sell([answer, () => Response.json({ report: 'yes' })]);
      const headers = api.pay({ resource: RESOURCE });
      const attempt = async () => {
        const response = await serve(at('/report', headers));
        await response.text();
        return response.status;
      };
      expect(await attempt().catch(() => 'thrown')).toBe(seen);
      expect(await reasonOf(serve(at('/report?other', headers)))).toBe('402 payment_failed spent');
      expect(await attempt()).toBe(200);
      expect(await attempt()).toBe(200);
      expect(deliveries).toHaveLength(2);
      expect(new Set(deliveries).size).toBe(1);
      expect(api.calls()).toEqual(['verify', 'redeem']);
    },
  );

  test('a 404 of the handler is a delivery, which is stored and not made again', async () => {
    const { serve, deliveries } = sell([() => new Response('none', { status: 404 })]);
    const headers = api.pay({ resource: RESOURCE });
    for (const _ of [1, 2]) expect(await (await serve(at('/report', headers))).text()).toBe('none');
    expect(deliveries).toHaveLength(1);
  });

  test('a lost answer of redeem gets 503, and the repeat is admitted with the same id', async () => {
    let lost = false;
    api.faults.push(({ call, body }) => {
      if (lost || !call.endsWith('/redeem')) return null;
      lost = true;
      const [, id] = /settlements\/(\w+)/.exec(call)!;
      Object.assign(api.settlements.get(id!)!, { redeemed: true, redeem_id: body!.redeem_id });
      return 'lost';
    });
    const { serve, deliveries } = sell();
    const headers = api.pay({ resource: RESOURCE });
    expect(await reasonOf(serve(at('/report', headers)))).toBe('503 service_unavailable no_answer');
    expect((await serve(at('/report', headers))).status).toBe(200);
    expect(deliveries).toHaveLength(1);
  });

  test('the ten minutes begin with the redeem, not with a request that the API did not answer', async () => {
    let isUnavailable = true;
    api.faults.push(({ call }) => (isUnavailable && call.endsWith('/redeem') ? 'lost' : null));
    const { serve, deliveries } = sell([() => Response.json({}, { status: 500 }), () => Response.json({})]);
    const headers = api.pay({ resource: RESOURCE });
    const clock = jest.spyOn(Date, 'now');
    const start = Date.now();
    const askAt = async (ms: number) => {
      clock.mockImplementation(() => start + ms);
      return (await readAnswer(serve(at('/report', headers)))).status;
    };
    expect(await askAt(0)).toBe(503);
    isUnavailable = false;
    expect(await askAt(590_000)).toBe(500);
    expect(await askAt(1_180_000)).toBe(200);
    expect(deliveries).toHaveLength(2);
  });

  test('a limit of redeem gets 503 with its Retry-After, and the settlement remains usable by another request', async () => {
    api.faults.push(({ call }) =>
      call.endsWith('/redeem')
        ? { status: 429, body: { error: { code: 'rate_limited', message: '' } }, retryAfter: 30 }
        : null,
    );
    const { serve } = sell();
    const headers = api.pay({ resource: RESOURCE });
    const { status, headers: said } = await readAnswer(serve(at('/report', headers)));
    expect([status, said.get('retry-after')]).toEqual([503, '30']);
    // Refused calls count too, so the paywall makes none until then.
    api.faults.length = 0;
    expect((await serve(at('/report', headers))).status).toBe(503);
    expect(api.calls()).toEqual(['verify', 'redeem']);
    const now = Date.now();
    jest.spyOn(Date, 'now').mockImplementation(() => now + 30_001);
    expect((await serve(at('/report?other', headers))).status).toBe(200);
  });

  test.each([
    ['expired', 'settlement_expired', 'confirmed', '402 payment_failed settlement_expired'],
    ['refunded', 'conflict', 'confirmed', '402 payment_failed conflict'],
    ['undone by a fork', 'conflict', 'pending', '503 service_unavailable being_confirmed'],
  ])(
    'a settlement that is %s is refused, and redeem is not called again at once',
    async (_, code, chain_status, expected) => {
      const { serve, deliveries } = sell();
      const headers = api.pay({ resource: RESOURCE });
      const status = code === 'conflict' ? 409 : 410;
      api.faults.push(({ call, body }) => {
        if (call.endsWith('/redeem')) return { status, body: { error: { code, message: '' } } };
        if (!call.endsWith('/verify')) return null;
        expect(body).toEqual({});
        const found = [...api.settlements.values()][0]!;
        return { status: 200, body: { ...found, chain_status } };
      });
      expect(await reasonOf(serve(at('/report', headers)))).toBe(expected);
      const calls = api.calls().length;
      expect(await reasonOf(serve(at('/report?other', headers)))).toBe(expected);
      expect([api.calls().length, deliveries]).toEqual([calls, []]);
    },
  );

  test('after a replica died in the handler another one runs it when the lease has ended, without a new redeem', async () => {
    const store = memoryStore();
    let reached: () => void;
    const dying = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const hang = () => {
      reached();
      return new Promise<Response>(() => {});
    };
    const dead = sell([hang], { store });
    const alive = sell(undefined, { store });
    const headers = api.pay({ resource: RESOURCE });
    void dead.serve(at('/report', headers));
    await dying;
    expect(await reasonOf(alive.serve(at('/report', headers)))).toBe('503 payment_in_progress in_progress');
    // Dead: its heartbeat has stopped, and the lease has ended.
    const now = Date.now();
    jest.spyOn(Date, 'now').mockImplementation(() => now + 31_000);
    expect((await alive.serve(at('/report', headers))).status).toBe(200);
    expect(alive.deliveries).toEqual(dead.deliveries);
    expect(api.calls().filter((call) => call === 'redeem')).toHaveLength(1);
  });

  test('after the window the same request gets payment_failed, and no handler runs', async () => {
    const { serve, deliveries } = sell([failing]);
    const headers = api.pay({ resource: RESOURCE });
    await serve(at('/report', headers));
    const now = Date.now();
    jest.spyOn(Date, 'now').mockImplementation(() => now + 600_001);
    for (const _ of [1, 2])
      expect(await reasonOf(serve(at('/report', headers)))).toBe('402 payment_failed spent');
    expect(deliveries).toHaveLength(1);
    expect(api.calls()).toEqual(['verify', 'redeem', 'redeem']);
  });

  test('an unavailable store gets 503, and nothing is redeemed', async () => {
    const unavailable = () => Promise.reject(new Error('unavailable'));
    const { serve } = sell(undefined, { store: { get: unavailable, compareAndSet: unavailable } });
    expect(await reasonOf(serve(at('/report', api.pay({ resource: RESOURCE }))))).toBe(
      '503 service_unavailable store',
    );
    expect(api.calls()).toEqual([]);
  });

  test('a body remains readable for the handler and is part of the request, and a body over the limit gets 413', async () => {
    const serve = api
      .paywall({ maxBodyBytes: 10 })
      .protect({ price: '50000' }, async (request) => new Response(await request.text()));
    const headers = api.pay({ resource: RESOURCE });
    const post = (body: string) => serve(at('/report', headers, { method: 'POST', body }));
    expect((await post('12345678901')).status).toBe(413);
    expect(await (await post('1234567890')).text()).toBe('1234567890');
    expect(await reasonOf(post('123'))).toBe('402 payment_failed spent');
  });
});

describe('long and broken deliveries', () => {
  test('a delivery over the stored size is neither made nor returned again', async () => {
    const { serve, deliveries } = sell([() => new Response('x'.repeat(200))], { maxStoredBytes: 100 });
    const headers = api.pay({ resource: RESOURCE });
    expect(await (await serve(at('/report', headers))).text()).toHaveLength(200);
    expect(await reasonOf(serve(at('/report', headers)))).toBe('402 payment_failed spent');
    expect(deliveries).toHaveLength(1);
  });

  test('a stream is passed on as it arrives, and a buyer who disconnected gets it completely afterwards', async () => {
    let release: () => void;
    const more = new Promise<void>((resolve) => {
      release = resolve;
    });
    const stream = () =>
      new ReadableStream<Uint8Array>({
        start: async (controller) => {
          controller.enqueue(new TextEncoder().encode('first '));
          await more;
          controller.enqueue(new TextEncoder().encode('second'));
          controller.close();
        },
      });
    const { serve, deliveries } = sell([() => new Response(stream())]);
    const headers = api.pay({ resource: RESOURCE });
    const reader = (await serve(at('/report', headers))).body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('first ');
    const gone = reader.cancel();
    release!();
    await gone;
    expect(await (await serve(at('/report', headers))).text()).toBe('first second');
    expect(deliveries).toHaveLength(1);
  });
});

function brokenStream() {
  return new ReadableStream<Uint8Array>({
    pull: (controller) => controller.error(new Error('broken off')),
  });
}
