import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import {
  at,
  PUBLIC_URL,
  RESOURCE,
  readAnswer,
  reasonOf,
  type Sell,
  sellBy,
  startVendorApi,
  type VendorApi,
} from '../../../../test/support/stand-ins/vendor-api.ts';
import { unavailable } from '../base/answers.ts';
import { type Dialect, memoryStore } from '../main.ts';

let api: VendorApi;
beforeEach(async () => {
  api = await startVendorApi();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await api.stop();
});
const sell: Sell = (...settings) => sellBy(api, ...settings);
const DECIDED = 'error hint display_amount quote_amount currency expires_at settle_url quote_token'.split(
  ' ',
);

describe('the 402', () => {
  test('has the specified fields, is not cached, and is for the configured address', async () => {
    const { status, headers, body } = await readAnswer(sell().serve(at('/report?city=Ulm')));
    expect(status).toBe(402);
    expect(headers.get('cache-control')).toBe('no-store');
    // A person in a terminal reads it from its beginning.
    expect(Object.keys(body)).toEqual(DECIDED);
    expect(body).toMatchObject({
      error: 'payment_required',
      quote_amount: '50000',
      display_amount: '0.05 USDC',
      hint: `0.05 USDC. Open this address in a browser, or pay with: quittance pay '${RESOURCE}?city=Ulm'`,
    });
    const claims = JSON.parse(Buffer.from(body.quote_token.split('.')[0], 'base64url').toString());
    expect(claims.scope).toEqual({ resource: RESOURCE });
  });

  test.each(['$0.05', '0.05 USDC', '50000'])('a price of %s is exact', async (price) => {
    const said = () => Response.json({});
    for (const route of [{ price }, { price: async () => price }])
      expect((await readAnswer(api.paywall({}).protect(route, said)(at('/report')))).body).toMatchObject({
        quote_amount: '50000',
        display_amount: '0.05 USDC',
      });
  });

  test('one of the two headers is no payment, and neither a preflight nor HEAD is charged or delivered', async () => {
    const { serve, deliveries } = sell();
    const { 'x-settlement-id': id } = api.pay({ resource: RESOURCE });
    expect(await reasonOf(serve(at('/report', { 'x-settlement-id': id! })))).toBe('402 payment_required');
    expect((await serve(at('/report', {}, { method: 'OPTIONS' }))).status).toBe(204);
    const head = at('/report', api.pay({ resource: RESOURCE }), { method: 'HEAD' });
    expect((await serve(head)).status).toBe(402);
    expect(deliveries).toEqual([]);
    expect(api.calls()).toEqual(['quote']);
  });

  test.each([
    [
      'limits of the API',
      { status: 429, body: { error: { code: 'rate_limited', message: '' } }, retryAfter: 7 },
      '7',
    ],
    ['no answer', 'lost' as const, '5'],
    ['a refused key', { status: 401, body: { error: { code: 'unauthorized', message: '' } } }, '5'],
  ])('%s gets 503 with Retry-After', async (_, said, after) => {
    api.faults.push(({ call }) => (call === 'POST /v1/quote' ? said : null));
    const { status, headers } = await readAnswer(sell().serve(at('/report')));
    expect([status, headers.get('retry-after')]).toEqual([503, after]);
  });

  test('a key of another environment and a public address with a query are refused at the start', () => {
    expect(() => api.paywall({ serviceKey: 'vendor_live_x' })).toThrow(TypeError);
    expect(() => api.paywall({ publicUrl: 'https://a.example/?b' })).toThrow(TypeError);
    const warn = jest.spyOn(console, 'warn').mockImplementation(() => {});
    const { store: _, ...none } = { store: memoryStore() };
    api.paywall(none);
    expect(warn).not.toHaveBeenCalled();
    api.paywall({ store: undefined as never });
    expect(warn).toHaveBeenCalledTimes(1);
    warn.mockRestore();
  });

  test('another dialect adds its fields and headers, and handles the payments that it recognizes', async () => {
    const tokens = new Set<string>();
    const other: Dialect = {
      name: 'other',
      offer: async ({ amount }) => ({
        body: { accepts: [{ amount }] },
        headers: { 'payment-required': 'yes' },
      }),
      read: async ({ header }) => {
        const id = header('x-payment');
        return id === null
          ? null
          : {
              id,
              mismatch: async () => null,
              take: async (_bill, taking) => {
                if (!tokens.has(id)) tokens.add(id).add(taking.id);
                return tokens.has(taking.id) ? 'open' : 'spent';
              },
            };
      },
    };
    const { serve, deliveries } = sell(undefined, { dialects: [other] });
    const bill = await readAnswer(serve(at('/report')));
    expect(bill.body).toMatchObject({ quote_amount: '50000', accepts: [{ amount: '50000' }] });
    expect(bill.headers.get('payment-required')).toBe('yes');
    expect((await serve(at('/report', { 'x-payment': 'one' }))).status).toBe(200);
    expect(await reasonOf(serve(at('/report?x', { 'x-payment': 'one' })))).toBe('402 payment_failed spent');
    expect(deliveries).toHaveLength(1);
  });
});

describe('a payment that does not pay for the request', () => {
  const cases: [string, () => Record<string, string>, string][] = [
    ['arbitrary text', () => ({ 'x-settlement-id': 'stl_1', 'x-settlement-token': 'a.b' }), 'invalid_token'],
    [
      'a token of 5 kB',
      () => ({ ...api.pay({ resource: RESOURCE }), 'x-settlement-token': 'a'.repeat(5000) }),
      'invalid_token',
    ],
    [
      'two tokens',
      () => {
        const paid = api.pay({ resource: RESOURCE });
        return {
          ...paid,
          'x-settlement-token': `${paid['x-settlement-token']}, ${paid['x-settlement-token']}`,
        };
      },
      'invalid_token',
    ],
    [
      'a stranger’s signature',
      () => api.pay({ resource: RESOURCE }, { signer: api.stranger }),
      'invalid_token',
    ],
    ['an unknown key', () => api.pay({ resource: RESOURCE }, { signer: api.unknown }), 'invalid_token'],
    [
      'another settlement’s id',
      () => ({
        ...api.pay({ resource: RESOURCE }),
        'x-settlement-id': api.pay({ resource: RESOURCE })['x-settlement-id']!,
      }),
      'invalid_token',
    ],
    [
      'the settlement of another service',
      () => api.pay({ resource: RESOURCE }, { service: 'other' }),
      'other_service',
    ],
    ['a lower amount', () => api.pay({ resource: RESOURCE }, { amount: '49999' }), 'amount_too_small'],
  ];
  test.each(cases)('%s gets payment_failed without a call', async (_, headers, reason) => {
    const { serve, deliveries } = sell();
    expect(await reasonOf(serve(at('/report', headers())))).toBe(`402 payment_failed ${reason}`);
    expect(await reasonOf(serve(at('/report', headers())))).toBe(`402 payment_failed ${reason}`);
    expect(api.calls()).toEqual([]);
    expect(api.asked.length).toBeLessThanOrEqual(1);
    expect(deliveries).toEqual([]);
  });

  test.each([
    ['paid for another address', { resource: `${PUBLIC_URL}/cheap` }],
    ['paid for this path at another host', { resource: 'http://evil.example/report' }],
    ['prepaid, on a route without units', { resource: RESOURCE, units: 5 }],
  ])('a settlement %s gets payment_failed with one call, and nothing is redeemed', async (_, scope) => {
    const { serve, deliveries } = sell();
    const headers = api.pay(scope);
    for (const path of ['/report', '/report?a'])
      expect(await reasonOf(serve(at(path, headers)))).toBe('402 payment_failed other_resource');
    expect(api.calls()).toEqual(['verify']);
    expect(deliveries).toEqual([]);
  });

  test.each([
    ...['/a/../report', 'http://evil/report', '/report\\x', '/%2e/report', '*', '//report', '/report;a'],
    ...['/rep%6frt', '/report.', '/report%20', '/x%25', '/caf\u00e9', '/..%2freport', '/x%2f%2fy'],
  ])('a path %s that servers read in different ways is refused by adapters', async (target) => {
    const incoming = { method: 'GET', target, header: () => null, body: async () => new Uint8Array() };
    const admission = await api.paywall().admit(incoming, null, { price: '50000' });
    expect(admission).toMatchObject({ kind: 'answer', response: { status: 400 } });
  });

  test('no price is named while nothing can be delivered', async () => {
    const refusal = unavailable('closed_today');
    let asked = 0;
    const incoming = {
      method: 'GET',
      target: '/report',
      header: () => null,
      body: async () => new Uint8Array(),
      ready: async () => {
        asked += 1;
        return refusal;
      },
    };
    const admission = await api.paywall().admit(incoming, null, { price: '50000' });
    if (admission.kind !== 'answer') throw new Error('it was delivered');
    expect(await reasonOf(Promise.resolve(admission.response))).toBe('503 service_unavailable closed_today');
    expect(Number(admission.response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect([asked, api.calls()]).toEqual([1, []]);
  });

  test('a malformed request id gets 400, and no secret is logged', async () => {
    const headers = api.pay({ resource: RESOURCE });
    const { serve } = sell();
    expect(await reasonOf(serve(at('/report', { ...headers, 'x-payment-request-id': 'a b' })))).toMatch(
      /^400/,
    );
    await serve(at('/report', headers));
    const logged = JSON.stringify(api.log);
    expect(logged).toContain(headers['x-settlement-id']);
    expect(logged).not.toContain(headers['x-settlement-token']);
    expect(logged).not.toContain('vendor_test_');
  });
});
