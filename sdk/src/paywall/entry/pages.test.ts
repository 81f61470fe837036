import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { paymentOn } from '../../../../test/support/actors/incoming-buyers.ts';
import { refusal } from '../../../../test/support/stand-ins/scripted-server.ts';
import {
  at,
  PUBLIC_URL,
  RESOURCE,
  type Sell,
  sellBy,
  startVendorApi,
  type VendorApi,
} from '../../../../test/support/stand-ins/vendor-api.ts';
import { addressWith, readPageOrder } from '../../payment-page.ts';
import { mpp } from '../dialects/mpp.ts';
import { x402 } from '../dialects/x402.ts';
import type { PaywallOptions } from './paywall.ts';

/** What a browser gets from a paywall, for a person. */
let api: VendorApi;
beforeEach(async () => {
  api = await startVendorApi();
});
afterEach(() => api.stop());
const dialects = [x402({ secret: 'a secret of the vendor, 32 or more' })];
const sell: Sell = (answers, options) => sellBy(api, answers, { dialects, ...options });

const BROWSER = {
  accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
};
const open = (path: string, cookie?: string) =>
  at(path, { ...BROWSER, ...(cookie !== undefined && { cookie }) });
/** What a browser sends back of Set-Cookie. */
const cookieIn = ({ headers }: Response): string => headers.getSetCookie()[0]!.split(';')[0]!;
const plain = (html: string) => html.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
const orderIn = async (page: Response) => {
  const [, address] = /<a href="([^"]+)"/.exec(plain(await page.text()))!;
  const url = new URL(address!);
  return { path: url.pathname, order: readPageOrder(url.hash)! };
};
/** Returns from the payment page, and opens the address to which the paywall redirects. */
const comeBack = async (serve: (request: Request) => Promise<Response>, address: string) => {
  const { pathname, search, origin } = new URL(address);
  expect(origin).toBe(PUBLIC_URL);
  const redirect = await serve(open(`${pathname}${search}`));
  expect(redirect.status).toBe(303);
  const location = redirect.headers.get('location')!;
  return { redirect, location, cookie: cookieIn(redirect), path: location.slice(PUBLIC_URL.length) };
};

describe('the page of a 402', () => {
  test('leads to the payment page with quote, offer and way back, and has the headers of the 402', async () => {
    const page = await sell().serve(open('/report?city=Ulm'));
    expect(page.status).toBe(402);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('payment-required')).not.toBeNull();
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'/);
    const { path, order } = await orderIn(page);
    expect(path).toBe('/pay');
    expect(order.offer).toMatchObject({
      extra: { memo: expect.stringMatching(/^0\.05 USDC to shop\.example\.com [\w-]{22}$/) },
    });
    expect(order).toEqual({
      quote: expect.stringMatching(/^[\w-]+\.[\w-]+$/),
      back: `${RESOURCE}?city=Ulm`,
      offer: expect.objectContaining({ scheme: 'exact', amount: '50000' }),
    });
  });

  test.each([
    ['a program that accepts HTML', { accept: 'text/html' }],
    ['a fetch of a page', { ...BROWSER, 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }],
    ['a frame', { ...BROWSER, 'sec-fetch-dest': 'iframe' }],
    ['a navigation that accepts JSON only', { ...BROWSER, accept: 'application/json' }],
  ])('%s gets JSON', async (_, headers) => {
    const { headers: said } = await sell().serve(at('/report', headers));
    expect(said.get('content-type')).toBe('application/json');
  });

  test('nothing of an address or a quote becomes markup', async () => {
    const page = await sell().serve(open('/report?%22><script>alert(1)</script>'));
    expect(await page.text()).not.toMatch(/<script|<svg|"><s/);
  });

  test('an outage is a page that loads again, with the same status', async () => {
    api.faults.push(({ call }) => (call === 'POST /v1/quote' ? 'lost' : null));
    const page = await sell().serve(open('/report'));
    expect([page.status, await page.text()]).toEqual([503, expect.stringContaining('Nothing was paid.')]);
  });
});

describe('a paywall whose vendor chose no dialects', () => {
  test('offers wallets to people, and delivers what they pay once', async () => {
    const { serve, deliveries } = sellBy(api);
    const page = await serve(open('/report'));
    const { 'payment-signature': signature } = paymentOn.x402(page.headers);
    expect((await orderIn(page)).order.offer).toMatchObject({ scheme: 'exact', amount: '50000' });
    const payload = JSON.parse(Buffer.from(signature!, 'base64').toString()) as object;
    const { cookie, path } = await comeBack(serve, addressWith(RESOURCE, { payload }));
    const product = await serve(open(path, cookie));
    expect([product.status, await product.json()]).toEqual([200, { report: 'yes' }]);
    expect((await serve(open(path, cookie))).headers.get('x-payment-replayed')).toBe('true');
    expect(deliveries).toHaveLength(1);
  });

  test('gives programs the same 402 as without it, and takes no payment of x402 from them', async () => {
    const { serve } = sellBy(api);
    const { 'payment-signature': signature } = paymentOn.x402((await serve(open('/report'))).headers);
    for (const headers of [{}, { 'payment-signature': signature! }]) {
      const said = await serve(at('/report', headers));
      expect([said.status, said.headers.get('payment-required')]).toEqual([402, null]);
    }
  });

  test.each<[string, NonNullable<PaywallOptions['dialects']>, boolean]>([
    ['mpp alone', [mpp({ secret: 'a secret of the vendor, 32 or more' })], true],
    ['none by choice', [], false],
    ['one of the vendor’s own', [{ name: 'own', offer: async () => ({}), read: async () => null }], false],
  ])('with %s people are offered wallets: %#', async (_, chosen, isOffered) => {
    const { order } = await orderIn(
      await sellBy(api, undefined, { dialects: chosen }).serve(open('/report')),
    );
    expect(order.offer !== undefined).toBe(isOffered);
  });
});

describe('a payment that returns', () => {
  test('moves from the address into a cookie of this address, and delivers once', async () => {
    const { serve, deliveries } = sell();
    const [settlement_id, settlement_token] = Object.values(api.pay({ resource: RESOURCE })) as [
      string,
      string,
    ];
    const address = addressWith(`${RESOURCE}?city=Ulm`, { settlement_id, settlement_token });
    const { redirect, location, cookie, path } = await comeBack(serve, address);
    expect(location).toBe(`${RESOURCE}?city=Ulm`);
    expect(redirect.headers.getSetCookie()[0]).toMatch(
      /; Path=\/report; HttpOnly; SameSite=Lax; Secure; Max-Age=600$/,
    );
    expect(redirect.headers.get('referrer-policy')).toBe('no-referrer');
    expect(deliveries).toEqual([]);
    const product = await serve(open(path, cookie));
    expect([product.status, await product.json()]).toEqual([200, { report: 'yes' }]);
    const reloaded = await serve(open(path, `theme=dark; ${cookie}`));
    expect(reloaded.headers.get('x-payment-replayed')).toBe('true');
    expect(deliveries).toHaveLength(1);
    // Another address has another cookie, and a program has none.
    expect((await serve(open('/report?city=Bonn', cookie))).status).toBe(402);
    expect((await serve(at(path, { cookie }))).status).toBe(402);
  });

  test('a payload of a wallet is settled as a program’s', async () => {
    const { serve, deliveries } = sell();
    const { 'payment-signature': signature } = paymentOn.x402((await serve(open('/report'))).headers);
    const payload = JSON.parse(Buffer.from(signature!, 'base64').toString()) as object;
    const { cookie, path } = await comeBack(serve, addressWith(RESOURCE, { payload }));
    const product = await serve(open(path, cookie));
    expect(product.status).toBe(200);
    expect(product.headers.get('payment-response')).not.toBeNull();
    expect(deliveries).toHaveLength(1);
  });

  test('a refused payment ends its cookie, and the page has a new order with the reason', async () => {
    const { serve, deliveries } = sell();
    api.faults.push(({ call }) =>
      call === 'POST /v1/settlements/foreign' ? refusal(402, 'insufficient_funds') : null,
    );
    const { 'payment-signature': signature } = paymentOn.x402((await serve(open('/report'))).headers);
    const payload = JSON.parse(Buffer.from(signature!, 'base64').toString()) as object;
    const { cookie, path } = await comeBack(serve, addressWith(RESOURCE, { payload }));
    const page = await serve(open(path, cookie));
    expect(page.status).toBe(402);
    expect(page.headers.getSetCookie()[0]).toMatch(/^quittance_[0-9a-f]{16}=; .*Max-Age=0$/);
    expect((await orderIn(page)).order).toMatchObject({ reason: 'insufficient_funds', offer: {} });
    expect(deliveries).toEqual([]);
  });

  test('a settlement of another address is refused, with a new order', async () => {
    const { serve, deliveries } = sell();
    const [settlement_id, settlement_token] = Object.values(api.pay({ resource: `${PUBLIC_URL}/other` })) as [
      string,
      string,
    ];
    const { cookie, path } = await comeBack(
      serve,
      addressWith(RESOURCE, { settlement_id, settlement_token }),
    );
    const page = await serve(open(path, cookie));
    expect((await orderIn(page)).order).toMatchObject({
      reason: 'other_resource',
      quote: expect.any(String),
    });
    expect(deliveries).toEqual([]);
  });

  test('while the outcome is open the page loads again and offers nothing', async () => {
    const { serve } = sell();
    const { 'payment-signature': signature } = paymentOn.x402((await serve(open('/report'))).headers);
    const payload = JSON.parse(Buffer.from(signature!, 'base64').toString()) as object;
    const { cookie, path } = await comeBack(serve, addressWith(RESOURCE, { payload }));
    api.faults.push(({ call }) =>
      call === 'POST /v1/settlements/foreign' ? refusal(503, 'service_unavailable') : null,
    );
    const page = await serve(open(path, cookie));
    const text = await page.text();
    expect([page.status, page.headers.getSetCookie()]).toEqual([503, []]);
    expect(text).toContain('You do not pay twice.');
    expect(text).not.toContain('/pay#');
  });

  test.each([
    ['a line break', 's~a%0d%0aset-cookie:b~c'],
    ['an attribute', 's~a;Domain=evil.example~c'],
    ['an unknown kind', 'z~a~b'],
    ['nothing', ''],
    ['too much', `x~${'a'.repeat(4000)}`],
  ])('%s sets no cookie and leaves the address', async (_, value) => {
    const redirect = await sell().serve(open(`/report?a=1&quittance_payment=${value}&b=2`));
    expect([redirect.status, redirect.headers.get('location'), redirect.headers.getSetCookie()]).toEqual([
      303,
      `${RESOURCE}?a=1&b=2`,
      [],
    ]);
  });

  test.each(['//evil.example', '/\\evil.example', '/..;Domain=evil.example'])(
    'an address like %s stays with the vendor',
    async (path) => {
      const redirect = await sell().serve(open(`${path}?quittance_payment=q~q_1`));
      const location = redirect.headers.get('location');
      if (location !== null) expect(new URL(location).origin).toBe(PUBLIC_URL);
      expect(redirect.headers.getSetCookie().join()).not.toMatch(/Domain/);
    },
  );
});
