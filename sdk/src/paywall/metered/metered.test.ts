import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { waitUntil } from '../../../../test/support/base/wait.ts';
import {
  at,
  PUBLIC_URL,
  startVendorApi,
  type VendorApi,
} from '../../../../test/support/stand-ins/vendor-api.ts';
import { type MeteredRoute, memoryStore, meterOf, type PaywallEvent, type PaywallOptions } from '../main.ts';

const RESOURCE = `${PUBLIC_URL}/chat`;
let api: VendorApi;
beforeEach(async () => {
  api = await startVendorApi();
});
afterEach(() => api.stop());

type Handler = (request: Request) => Response | Promise<Response>;
const sell = (
  route: MeteredRoute<Request>,
  handler: Handler = () => Response.json({ tokens: 120 }),
  options: Partial<PaywallOptions> = {},
) => {
  let runs = 0;
  const paywall = api.paywall(options);
  const serve = paywall.metered(route, (request) => {
    runs += 1;
    return handler(request);
  });
  const ask = async (headers: Record<string, string> = {}, id?: string) => {
    const named = id === undefined ? headers : { ...headers, 'x-payment-request-id': id };
    const response = await serve(at('/chat', named));
    const { status } = response;
    return { status, usage: response.headers.get('quittance-usage'), text: await response.text() };
  };
  return { ask, paywall, serve, runs: () => runs };
};
const calls = (name: string) => api.calls().filter((call) => call === name).length;
const captured = (held: { status: string }) => waitUntil(() => held.status === 'captured');

describe('one call', () => {
  const route: MeteredRoute<Request> = {
    max: '$0.50',
    unitPrice: '$0.001',
    price: ({ json }) => ({ units: json().tokens }),
  };
  const authorize = () => api.authorize({ resource: RESOURCE }, 500_000n);

  test('its 402 has the ceiling and the terms of the capture', async () => {
    const { ask, runs } = sell(route);
    const { status, text } = await ask();
    expect([status, runs()]).toEqual([402, 0]);
    expect(JSON.parse(text)).toMatchObject({
      error: 'payment_required',
      quote_amount: '500000',
      max_amount: '500000',
      capture: { mode: 'usage', window_seconds: 600 },
    });
    expect(api.asked.find(({ call }) => call === 'POST /v1/quote')!.body).toMatchObject({
      capture: 'usage',
      max_amount: '500000',
      unit_price: '1000',
    });
  });

  test('the price of its answer is captured once, and a repeat gets the answer again', async () => {
    const { ask, runs } = sell(route);
    const { headers, held } = authorize();
    const first = await ask(headers);
    expect(first).toEqual({ status: 200, usage: 'charged=120000', text: '{"tokens":120}' });
    await captured(held);
    expect(await ask(headers)).toEqual(first);
    expect([runs(), held.used, calls('capture'), calls('void')]).toEqual([1, 120_000n, 1, 0]);
  });

  test('what the handler charges is added, and it cannot charge more than the ceiling', async () => {
    const { ask } = sell({ max: '$0.50', price: '$0.01' }, (request) => {
      const meter = meterOf(request);
      meter.charge('$0.30');
      expect(() => meter.charge(200_001n)).toThrow(/cannot be charged for more \(used_up\)/);
      expect([meter.charged, meter.left, meter.signal.aborted]).toEqual([300_000n, 200_000n, true]);
      return Response.json({});
    });
    const { headers, held } = authorize();
    expect(await ask(headers)).toMatchObject({ status: 200, usage: 'charged=310000' });
    await captured(held);
    expect(held.used).toBe(310_000n);
  });

  test.each<[string, Handler]>([
    ['throws', () => Promise.reject(new Error('no model'))],
    ['answers 503', () => new Response(null, { status: 503 })],
  ])('a handler that %s releases the authorization, whatever it has charged', async (_, fail) => {
    const { ask } = sell(route, (request) => {
      meterOf(request).charge('$0.20');
      return fail(request);
    });
    const { headers, held } = authorize();
    await ask(headers).catch(() => null);
    expect([held.status, held.used, calls('usage')]).toEqual(['voided', 0n, 0]);
    const again = await ask(headers);
    expect(again.status).toBe(402);
    expect(JSON.parse(again.text)).toMatchObject({ error: 'payment_required', max_amount: '500000' });
  });

  test('a call that costs nothing, or no more than the fee, is void', async () => {
    for (const price of ['0', '10000']) {
      const { ask } = sell({ ...route, price: () => price });
      const { headers, held } = authorize();
      expect(await ask(headers)).toMatchObject({ status: 200, usage: `charged=${price}` });
      await waitUntil(() => held.status === 'voided');
    }
  });

  test.each([
    ['a payment that is no authorization', () => api.pay({ resource: RESOURCE }, { amount: '500000' })],
    ['a tab', () => api.authorize({ resource: RESOURCE, tab: true }, 500_000n).headers],
    ['a lower ceiling', () => api.authorize({ resource: RESOURCE }, 499_999n).headers],
    ['another address', () => api.authorize({ resource: `${PUBLIC_URL}/other` }, 500_000n).headers],
  ])('%s is refused', async (_, pay) => {
    const { ask, runs } = sell(route);
    const { status, text } = await ask(pay());
    expect([status, JSON.parse(text).error, runs()]).toEqual([402, 'payment_failed', 0]);
  });

  test('an authorization is refused by a route with a price', async () => {
    const serve = api.paywall().protect({ price: '500000' }, () => Response.json({}));
    const response = await serve(at('/chat', authorize().headers));
    expect(response.status).toBe(402);
    expect(await response.json()).toMatchObject({ details: { reason: 'other_resource' } });
  });

  test('without a shared store, an authorization that was used is not delivered again', async () => {
    const { headers, held } = authorize();
    held.used = 20_000n;
    const { ask } = sell(route);
    expect(JSON.parse((await ask(headers)).text)).toMatchObject({ details: { reason: 'spent' } });
  });
});

describe('a tab', () => {
  const route: MeteredRoute<Request> = { max: '$0.50', price: '$0.0005', tab: true };
  const open = (max = 500_000n) => api.authorize({ resource: RESOURCE, tab: true }, max);
  const close = (serve: ReturnType<typeof sell>['serve'], headers: Record<string, string>) =>
    serve(at('/chat', { ...headers, 'x-tab-close': 'true' }));

  test('a thousand calls are one authorization, few reports and one capture', async () => {
    const { ask, serve, runs, paywall } = sell(route);
    const { headers, held } = open();
    for (let call = 1; call <= 900; call += 1) {
      const { status, usage } = await ask(headers, `${call}`);
      expect([status, usage]).toEqual([200, `charged=500, left=${500_000 - call * 500}`]);
    }
    await paywall.close();
    expect(held.used).toBe(450_000n);
    expect((await close(serve, headers)).status).toBe(202);
    await captured(held);
    expect([runs(), held.used, calls('capture'), calls('verify')]).toEqual([900, 450_000n, 1, 2]);
    expect(calls('usage')).toBeLessThan(20);
    const after = await ask(headers, 'after');
    expect(JSON.parse(after.text)).toMatchObject({
      error: 'payment_required',
      details: { reason: 'authorization_closed' },
      max_amount: '500000',
    });
  });

  test('a repeat of a call costs nothing more', async () => {
    const { ask, paywall, runs } = sell(route);
    const { headers, held } = open();
    const first = await ask(headers, 'a');
    expect(await ask(headers, 'a')).toEqual(first);
    await paywall.close();
    expect([runs(), held.used]).toEqual([1, 500n]);
  });

  test('a failed call costs nothing, and its repeat runs and is paid', async () => {
    let fails = true;
    const { ask, paywall } = sell(route, () => {
      const status = fails ? 500 : 200;
      fails = false;
      return new Response('', { status });
    });
    const { headers, held } = open();
    expect((await ask(headers, 'a')).status).toBe(500);
    expect(await ask(headers, 'a')).toMatchObject({ status: 200, usage: 'charged=500, left=499500' });
    await paywall.close();
    expect(held.used).toBe(500n);
  });

  test('concurrent calls never use more than the ceiling, and the last ones are offered the next tab', async () => {
    const { ask, runs } = sell({ ...route, max: '$0.02' });
    const { headers, held } = open(20_000n);
    const answers = await Promise.all(Array.from({ length: 60 }, (_, call) => ask(headers, `${call}`)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(40);
    for (const { status, text } of answers)
      if (status !== 200) expect(JSON.parse(text)).toMatchObject({ error: 'payment_required' });
    await captured(held);
    expect([runs(), held.used]).toEqual([40, 20_000n]);
  });

  test('calls whose price is known later give back what they did not use', async () => {
    const later: MeteredRoute<Request> = {
      max: '$0.05',
      tab: { perCall: '$0.02', threshold: '$0.03' },
      price: ({ json }) => String(json().tokens),
    };
    const { ask } = sell(later);
    const { headers, held } = open(50_000n);
    const answers = await Promise.all(Array.from({ length: 10 }, (_, call) => ask(headers, `${call}`)));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(held.status).toBe('authorized');
    for (let call = 10; held.used < 30_000n && call < 400; call += 1) await ask(headers, `${call}`);
    await captured(held);
    expect(held.used).toBeGreaterThanOrEqual(28_000n);
    expect(held.used).toBeLessThanOrEqual(50_000n);
  });

  test('with replay: false a repeat is another call, and only a failed one costs nothing', async () => {
    let fails = true;
    const { ask, paywall, runs } = sell({ ...route, tab: { replay: false } }, () => {
      const status = fails ? 500 : 200;
      fails = false;
      return new Response('', { status });
    });
    const { headers, held } = open();
    expect((await ask(headers, 'a')).status).toBe(500);
    expect((await ask(headers, 'a')).usage).toBe('charged=500, left=499500');
    const repeats = await Promise.all([ask(headers, 'a'), ask(headers, 'a')]);
    expect(repeats.map(({ usage }) => usage).sort()).toEqual([
      ...['charged=500, left=498500', 'charged=500, left=499000'],
    ]);
    await paywall.close();
    expect([runs(), held.used]).toEqual([4, 1500n]);
  });

  test('with replay: false a call is one step of the store, which keeps nothing', async () => {
    const store = memoryStore();
    const steps = (['get', 'compareAndSet', 'take'] as const).map((name) => jest.spyOn(store, name));
    const { ask } = sell({ ...route, tab: { replay: false } }, undefined, { store });
    const { headers } = open();
    await ask(headers, 'first');
    for (const step of steps) step.mockClear();
    for (let nth = 0; nth < 20; nth += 1) expect((await ask(headers, `r${nth}`)).status).toBe(200);
    expect(steps.map(({ mock }) => mock.calls.length)).toEqual([0, 0, 20]);
    expect(steps[2]!.mock.calls.every(([, , entries]) => (entries as unknown[]).length === 0)).toBe(true);
  });

  test('after the wallet is emptied the next call is refused, and offered a new authorization', async () => {
    const { ask, paywall } = sell(route);
    const { headers, held } = open();
    await ask(headers, 'a');
    await paywall.close();
    held.isAtRisk = true;
    await ask(headers, 'b');
    await paywall.close();
    await waitUntil(async () => {
      const { status, text } = await ask(headers, crypto.randomUUID());
      return status === 402 && JSON.parse(text).details.reason === 'authorization_at_risk';
    });
    expect(held.used).toBe(500n);
  });

  test('a tab that the API has ended is one line of the log, with what was captured', async () => {
    const lines: PaywallEvent[] = [];
    const { ask, paywall } = sell(route, undefined, { log: (event) => lines.push(event) });
    const { headers, held } = open();
    for (const call of ['a', 'b']) await ask(headers, call);
    await paywall.close();
    Object.assign(held, {
      status: 'captured',
      captured: held.used + 99_000n,
      endedAt: new Date().toISOString(),
    });
    await ask(headers, 'c');
    await paywall.close();
    const about = () => lines.filter(({ payment_id }) => payment_id === headers['x-settlement-id']);
    const ended = () => about().filter(({ reason }) => reason === 'ended_by_api');
    await waitUntil(() => ended().length > 0);
    await ask(headers, 'd');
    expect(ended()).toMatchObject([
      { event: 'captured', message: expect.stringContaining('0.10 USDC captured') },
    ]);
  });

  test('replicas share what is left, and one of them captures it', async () => {
    const shared = memoryStore();
    const store = { get: shared.get, compareAndSet: shared.compareAndSet, take: shared.take! };
    const [one, other] = [sell(route, undefined, { store }), sell(route, undefined, { store })];
    const { headers, held } = open();
    for (let call = 0; call < 60; call += 1) await (call % 2 === 0 ? one : other).ask(headers, `${call}`);
    expect((await one.ask(headers, 'last')).usage).toBe('charged=500, left=469500');
    await close(other.serve, headers);
    await captured(held);
    expect([held.used, calls('capture')]).toEqual([30_500n, 1]);
    expect((await one.ask(headers, 'after')).status).toBe(402);
  });

  test('a report whose answer was lost counts once', async () => {
    let lost = 2;
    const { ask, paywall } = sell(route);
    const { headers, held } = open();
    api.faults.push(({ call, body }) => {
      if (!call.endsWith('/usage') || lost === 0) return null;
      lost -= 1;
      for (const { usage_id, amount } of (body as { usages: { usage_id: string; amount: string }[] }).usages)
        if (!held.usages.has(usage_id)) {
          held.usages.set(usage_id, amount);
          held.used += BigInt(amount);
        }
      return 'lost';
    });
    await ask(headers, 'a');
    await paywall.close();
    await ask(headers, 'b');
    await waitUntil(() => held.used === 1000n && lost === 0);
    await paywall.close();
    expect(held.used).toBe(1000n);
  });
});

describe('a stream', () => {
  const encoder = new TextEncoder();
  const events =
    (charge: bigint, count: number): Handler =>
    (request) => {
      const meter = meterOf(request);
      let sent = 0;
      const body = new ReadableStream<Uint8Array>({
        pull: async (controller) => {
          if (sent === count) return controller.close();
          await new Promise((resolve) => setTimeout(resolve, 1));
          meter.charge(charge);
          sent += 1;
          controller.enqueue(encoder.encode(`data: ${sent}\n\n`));
        },
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    };
  const route: MeteredRoute<Request> = { max: '$0.50' };
  const authorize = () => api.authorize({ resource: RESOURCE }, 500_000n);

  test('is charged while it runs, and ends with what it has cost', async () => {
    const { ask } = sell(route, events(5000n, 5));
    const { headers, held } = authorize();
    const { status, text, usage } = await ask(headers);
    expect([status, usage]).toEqual([200, null]);
    expect(text.endsWith('data: 5\n\n: quittance-usage charged=25000\n\n')).toBe(true);
    await captured(held);
    expect(held.used).toBe(25_000n);
  });

  test.each([
    ['what was delivered', {}, 450_000n],
    ['its fixed price, too', { price: '$0.02' }, 470_000n],
    ['its fixed price as far as it is covered', { price: '$0.10' }, 500_000n],
  ])('ends with an event when its authorization is used up, and has cost %s', async (_, priced, used) => {
    const { ask } = sell({ ...route, ...priced }, events(150_000n, 10));
    const { headers, held } = authorize();
    const { text } = await ask(headers);
    expect(text).toContain('data: 3\n\n');
    expect(text).not.toContain('data: 4');
    const data = JSON.stringify({ reason: 'used_up', usage: `charged=${used}` });
    expect(text.endsWith(`event: quittance-stopped\ndata: ${data}\n\n`)).toBe(true);
    await captured(held);
    expect(held.used).toBe(used);
  });

  test('ends with an event when the wallet is emptied while it runs', async () => {
    const { serve } = sell(route, events(100n, 4000));
    const { headers, held } = authorize();
    const response = await serve(at('/chat', headers));
    const reader = response.body!.getReader();
    let text = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      text += new TextDecoder().decode(value);
      if (held.used > 0n) held.isAtRisk = true;
    }
    expect(text).toContain('event: quittance-stopped\ndata: {"reason":"at_risk"');
    expect(held.used).toBeLessThan(400_000n);
  });

  test.each([
    ['', {}, 0n],
    [', with its fixed price', { price: '$0.02' }, 20_000n],
  ])('is charged until its buyer leaves%s', async (_, priced, besides) => {
    const { serve } = sell({ ...route, ...priced }, events(5000n, 1000));
    const { headers, held } = authorize();
    const response = await serve(at('/chat', headers));
    const reader = response.body!.getReader();
    for (let read = 0; read < 4; read += 1) await reader.read();
    await reader.cancel();
    await captured(held);
    expect(held.used - besides).toBeGreaterThanOrEqual(20_000n);
    expect(held.used - besides).toBeLessThanOrEqual(30_000n);
  });
});
