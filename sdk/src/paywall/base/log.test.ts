import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { waitUntil } from '../../../../test/support/base/wait.ts';
import { refusal, type Scripted } from '../../../../test/support/stand-ins/scripted-server.ts';
import {
  at,
  RESOURCE,
  readAnswer,
  sellBy,
  startVendorApi,
  type VendorApi,
} from '../../../../test/support/stand-ins/vendor-api.ts';
import { memoryStore, type PaywallOptions } from '../main.ts';

let api: VendorApi;
let printed: string[];
beforeEach(async () => {
  api = await startVendorApi();
  printed = [];
  jest.spyOn(console, 'error').mockImplementation((line: unknown) => void printed.push(String(line)));
});
afterEach(async () => {
  jest.restoreAllMocks();
  await api.stop();
});

const REVOKED = 'the key was revoked; create another one in the console';
const refuseKey = (call: RegExp) =>
  api.faults.push((asked) =>
    call.test(asked.call)
      ? { status: 401, body: { error: { code: 'unauthorized', message: REVOKED } } }
      : null,
  );
/** A paywall without a log of its own. */
const selling = (price: string | (() => string) = '50000', options: Partial<PaywallOptions> = {}) =>
  api.paywall({ ...options, log: undefined as never }).protect({ price }, () => new Response());

describe('without a log of its own, the paywall prints', () => {
  test('why a quote cannot be made, with the API’s message and request id, once a minute', async () => {
    refuseKey(/quote/);
    const serve = selling();
    expect((await serve(at('/report'))).status).toBe(503);
    expect((await serve(at('/report'))).status).toBe(503);
    expect(printed).toEqual([
      expect.stringMatching(
        new RegExp(`^paywall: unauthorized: ${REVOKED} \\(${RESOURCE}, request id request-\\d+\\)$`),
      ),
    ]);
    const later = Date.now() + 61_000;
    jest.spyOn(Date, 'now').mockReturnValue(later);
    await serve(at('/report'));
    expect(printed).toHaveLength(2);
  });

  test('each authorization that pays nothing, and those of which the fee takes much', async () => {
    const serve = api
      .paywall({ log: undefined as never })
      .protect({ max: '$0.50', price: ({ json }) => BigInt(json().used) }, async (request) =>
        Response.json({ used: new URL(request.url).searchParams.get('used') }),
      );
    const used = async (micro: string) => {
      const { headers, held } = api.authorize({ resource: RESOURCE }, 500_000n);
      await (await serve(at(`/report?used=${micro}`, headers))).text();
      await waitUntil(() => held.status !== 'authorized');
    };
    for (const micro of ['480', '480', '15000', '400000', '0']) await used(micro);
    await waitUntil(() => printed.length === 3);
    expect(printed).toEqual([
      expect.stringMatching(
        /^paywall: below_fee: stl_.* use of 0\.00048 USDC.* fee of 0\.01 USDC.* 0\.010001 USDC$/,
      ),
      expect.stringMatching(/^paywall: below_fee: stl_/),
      expect.stringMatching(/^paywall: high_fee: 0\.015 USDC captured of stl_\w+, fee 0\.01 USDC$/),
    ]);
  });

  test('once that a route can pay nothing, before anybody uses it', async () => {
    const handler = () => new Response();
    const paywall = api.paywall({ log: undefined as never });
    const small = paywall.protect({ max: '$0.50', price: '$0.005' }, handler);
    const threshold = paywall.protect({ max: '$1', price: '$0.005', tab: { threshold: '$0.01' } }, handler);
    const paying = paywall.protect({ max: '$1', price: '$0.005', tab: true }, handler);
    for (const serve of [small, small, threshold, paying])
      expect((await serve(at('/report'))).status).toBe(402);
    expect(printed).toEqual([
      expect.stringMatching(
        /^paywall: vendor_configuration: price: .* 0\.005 USDC .* fee of 0\.01 USDC.* tab: true/,
      ),
      expect.stringMatching(
        /^paywall: vendor_configuration: tab\.threshold: 0\.01 USDC .* use at least 0\.010001 USDC/,
      ),
    ]);
  });

  test('why a paid request is not delivered, if only the vendor can change it', async () => {
    refuseKey(/redeem/);
    const { status, body } = await readAnswer(selling()(at('/report', api.pay({ resource: RESOURCE }))));
    expect([status, body.details]).toEqual([503, { reason: 'vendor_configuration' }]);
    expect(printed).toEqual([expect.stringContaining(`paywall: vendor_configuration: ${REVOKED} (`)]);
    // The buyer learns nothing about the vendor's key.
    expect(JSON.stringify(body)).not.toContain('revoked');
  });

  test('what is wrong with the price of a function, whose request gets 503', async () => {
    const { status, body } = await readAnswer(selling(() => '0,05')(at('/report')));
    expect([status, body.details]).toEqual([503, { reason: 'vendor_configuration' }]);
    expect(printed).toEqual([
      `paywall: vendor_configuration: price: the function has returned a wrong price; leave out commas: write '$0.05', '0.05' or '0.05 USDC' (${RESOURCE})`,
    ]);
    expect(api.calls()).toEqual([]);
  });

  test('which service id is wrong', async () => {
    api.faults.push(({ call }) => (call === 'POST /v1/quote' ? refusal(404, 'not_found') : null));
    expect((await selling()(at('/report'))).status).toBe(503);
    expect(printed).toEqual([
      expect.stringMatching(
        /^paywall: vendor_configuration: serviceId [0-9a-f-]{36} is not a service of this key; the console/,
      ),
    ]);
  });

  test('that a price is not more than the fee, in USDC', async () => {
    const message =
      'must exceed the fee of 10000 micro-units, or the vendor would receive nothing; send at least "10001"';
    const details = [{ path: 'quote_amount', message }];
    const error = { code: 'validation_error', message: 'quote_amount: must exceed the fee', details };
    api.faults.push(({ call }) => (call === 'POST /v1/quote' ? { status: 400, body: { error } } : null));
    expect((await selling('$0.005')(at('/report'))).status).toBe(503);
    expect(printed).toEqual([
      `paywall: vendor_configuration: price: 0.005 USDC is not more than the fee of 0.01 USDC, which you pay out of it; use at least '$0.010001' (${RESOURCE})`,
    ]);
  });

  test.each<[string, Record<string, string>, RegExp]>([
    [
      'another host',
      { host: 'localhost:8402' },
      /a request came to localhost:8402, and its quote is for https:/,
    ],
    ['a proxy with another host', { 'x-forwarded-host': 'a.example, b' }, /a request came to a\.example,/],
    ['a prefix', { 'x-forwarded-prefix': '/api' }, /a request came to shop\.example\.com\/api, and/],
  ])('once, that requests come to %s than publicUrl has', async (_name, headers, line) => {
    const serve = selling();
    for (const path of ['/report', '/other', '/report'])
      expect((await serve(at(path, headers))).status).toBe(402);
    expect(printed).toEqual([expect.stringMatching(line)]);
  });

  test.each<Record<string, string>>([
    {},
    { host: 'shop.example.com' },
    { host: 'internal:8080', 'x-forwarded-host': 'shop.example.com:443' },
    { host: 'a b' },
  ])('nothing about the address with %p', async (headers) => {
    expect((await selling()(at('/report', headers))).status).toBe(402);
    expect(printed).toEqual([]);
  });

  test('that another process has redeemed a payment, if the store is in memory', async () => {
    const store = memoryStore();
    const [shared, own] = [selling('50000', { store: { ...store } }), selling('50000', { store })];
    for (const serve of [shared, own]) {
      const payment = api.pay({ resource: RESOURCE });
      Object.assign(api.settlements.get(payment['x-settlement-id']!)!, {
        redeemed: true,
        redeem_id: 'of another',
      });
      expect((await readAnswer(serve(at('/report', payment)))).body.details).toEqual({ reason: 'spent' });
    }
    expect(printed).toEqual([
      expect.stringMatching(
        /^paywall: unshared_store: settlement stl_\w+ was redeemed by another process, .*need a store/,
      ),
    ]);
  });

  test('that the API’s address does not answer, and why', async () => {
    const serve = selling('50000', { baseUrl: 'http://127.0.0.1:1' });
    expect((await serve(at('/report'))).status).toBe(503);
    expect(printed).toEqual([
      expect.stringMatching(
        /^paywall: NoAnswerError: POST http:\/\/127\.0\.0\.1:1\/v1\/quote: no answer.*: .+/,
      ),
    ]);
  });

  test('nothing about sales and refused payments', async () => {
    const serve = selling();
    await serve(at('/report'));
    const payment = api.pay({ resource: RESOURCE });
    expect((await serve(at('/report', payment))).status).toBe(200);
    expect((await serve(at('/report?other', payment))).status).toBe(402);
    expect(printed).toEqual([]);
  });

  test('no secret that a message of a store contains', async () => {
    const get = () => {
      const [key, token] = ['vendor_test_abc', 'eyJhIjoxfQ.c2lnbmF0dXJl'];
      throw new Error(`redis://me:hunter2@host\nrefuses ${key} ${token}`);
    };
    const serve = selling('50000', { store: { get, compareAndSet: () => true } });
    await serve(at('/report', api.pay({ resource: RESOURCE })));
    expect(printed.join('\n')).toMatch(/^paywall: Error: redis:\/\/\*\*\*@host refuses \*\*\* \*\*\*/);
    expect(printed.join('\n')).not.toMatch(/hunter2|vendor_test_abc|c2lnbmF0dXJl/);
  });
});

test('an own log gets the message and the request id of every refusal, and the console nothing', async () => {
  const answers: [RegExp, Scripted][] = [
    [/quote/, refusal(403, 'forbidden')],
    [/redeem/, refusal(404, 'not_found')],
  ];
  api.faults.push(({ call }) => answers.find(([pattern]) => pattern.test(call))?.[1] ?? null);
  const { serve } = sellBy(api);
  await serve(at('/report'));
  await serve(at('/report', api.pay({ resource: RESOURCE })));
  expect(api.log).toMatchObject([
    { event: 'error', reason: 'forbidden', message: 'told forbidden', api_request_id: expect.any(String) },
    { event: 'refused', status: 503, reason: 'no_quote' },
    { event: 'refused', status: 402, reason: 'not_found', message: 'told not_found' },
  ]);
  expect(printed).toEqual([]);
});

test('a log that does nothing turns the console off', async () => {
  refuseKey(/quote/);
  await api.paywall({ log: () => {} }).protect({ price: '50000' }, () => new Response())(at('/report'));
  expect(printed).toEqual([]);
});
