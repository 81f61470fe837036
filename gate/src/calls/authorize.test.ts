import { afterEach, expect, test } from '@jest/globals';
import { paymentOn } from '../../../test/support/actors/incoming-buyers.ts';
import { ask, type GateHarness, startGateHarness } from '../../../test/support/fixtures/gate.ts';
import type { Settings } from '../settings/settings.ts';

/** The decision for a proxy that asks. test/interop asks with real ones. */
let harness: GateHarness;
const start = async (changed: Partial<Settings> = {}) => {
  harness = await startGateHarness(() => undefined, { upstream: null, ...changed });
  return harness;
};
afterEach(() => harness.stop());

const question = (method: string, uri: string, more: Record<string, string> = {}) => ({
  ...{ 'x-forwarded-method': method, 'x-forwarded-uri': uri },
  ...more,
});
const at = async (path: string, headers: Record<string, string>) => {
  const { answer, text } = await ask(`${harness.url}${path}`, { headers });
  const reason = text.startsWith('{') ? (JSON.parse(text).details?.reason ?? null) : null;
  return { status: answer.statusCode, headers: answer.headers, text, reason };
};

test('an unpaid request is refused with its price, and with 401 for a proxy that takes nothing else', async () => {
  await start();
  const refused = await at('/authorize', question('GET', '/report'));
  expect([refused.status, JSON.parse(refused.text).error]).toEqual([402, 'payment_required']);
  const for401 = await at('/authorize?refuse=401', question('GET', '/report'));
  expect([for401.status, for401.text]).toEqual([401, '']);
  const answer = await at('/answer', question('GET', '/report'));
  expect([answer.status, JSON.parse(answer.text).quote_token]).toEqual([
    402,
    JSON.parse(refused.text).quote_token,
  ]);
});

test('a paid request passes once, once more after a failure, and never a third time', async () => {
  const { pay, api } = await start();
  const headers = pay();
  for (let times = 0; times < 2; times += 1) {
    const allowed = await at('/authorize?refuse=401', question('GET', '/report', headers));
    expect([allowed.status, allowed.headers['quittance-settlement']]).toEqual([
      200,
      headers['x-settlement-id'],
    ]);
  }
  expect((await at('/authorize?refuse=401', question('GET', '/report', headers))).status).toBe(401);
  expect((await at('/answer', question('GET', '/report', headers))).reason).toBe('spent');
  expect((await at('/authorize', question('GET', '/other', headers))).status).toBe(200);
  expect(api.calls().filter((call) => call === 'redeem')).toHaveLength(1);
});

test('the headers of a receipt come with the permission', async () => {
  await start({ dialects: ['x402'], offerSecret: 'a secret of thirty-two characters!!' });
  const asked = await at('/authorize', question('GET', '/report'));
  const offers = new Headers({ 'payment-required': asked.headers['payment-required'] as string });
  const payment = paymentOn.x402(offers) as Record<string, string>;
  const allowed = await at('/authorize', question('GET', '/report', payment));
  expect(allowed.headers).toMatchObject({
    'quittance-payer': 'the payer',
    'payment-response': expect.any(String),
  });
});

const PREFLIGHT = { origin: 'https://a.example', 'access-control-request-method': 'GET' };

test.each([
  ['/authorize', {}, 400],
  ['/authorize', { 'x-forwarded-method': 'GET' }, 400],
  ['/authorize', { 'x-forwarded-method': 'GET', 'x-forwarded-uri': 'http://a/report' }, 400],
  ['/authorize', { 'x-forwarded-method': 'GET', 'x-forwarded-uri': '/a#/report' }, 400],
  ['/report', { 'x-forwarded-method': 'GET', 'x-forwarded-uri': '/free' }, 404],
  ['/authorize', { 'x-forwarded-method': 'GET', 'x-forwarded-uri': '/free' }, 200],
  ['/authorize', { 'x-forwarded-method': 'GET', 'x-forwarded-uri': '/x/../report' }, 400],
  ['/authorize?refuse=401', { 'x-forwarded-method': 'GET', 'x-forwarded-uri': '/%72eport' }, 401],
  ['/answer', { 'x-forwarded-method': 'GET', 'x-forwarded-uri': '/%72eport' }, 400],
  ['/authorize', { 'x-forwarded-method': 'GET', 'x-forwarded-uri': '/Report/' }, 400],
  ['/authorize', { 'x-forwarded-method': 'PUT', 'x-forwarded-uri': '/report' }, 405],
  ['/authorize', { 'x-forwarded-method': 'OPTIONS', 'x-forwarded-uri': '/report' }, 405],
  ['/authorize', { 'x-forwarded-method': 'OPTIONS', 'x-forwarded-uri': '/report', ...PREFLIGHT }, 405],
  ['/authorize', { 'x-forwarded-method': 'OPTIONS', 'x-forwarded-uri': '/free', ...PREFLIGHT }, 200],
])('%s with %j is %d', async (path, headers, status) => {
  await start();
  expect((await at(path, headers as Record<string, string>)).status).toBe(status);
});

test('a preflight of a path that is for sale passes if a route frees it', async () => {
  const routes = [
    { match: 'GET /report', paid: { price: '50000' } },
    { match: 'OPTIONS /**', paid: null },
  ];
  await start({ routes });
  expect((await at('/authorize', question('OPTIONS', '/report', PREFLIGHT))).status).toBe(200);
});

test.each([
  ['x-original-url', '/report', 'header'],
  ['x-http-method-override', 'POST', 'header'],
  ['x_forwarded_uri', '/report', 'header'],
  ['quittance-settlement', 'stl_spoofed', 'header'],
  ['host', 'admin.internal', 'host'],
])('a question with %s: %s is refused, because its proxy would pass it on', async (name, value, reason) => {
  await start({ hosts: { own: 'shop.example.com', served: ['shop.example.com'] } });
  for (const uri of ['/free', '/report']) {
    const asked = question('GET', uri, { [name]: value });
    const refused = await at('/authorize', asked);
    expect([refused.status, refused.reason]).toEqual([reason === 'host' ? 421 : 400, reason]);
    expect((await at('/authorize?refuse=401', asked)).status).toBe(401);
    expect((await at('/answer', asked)).reason).toBe(reason);
  }
});

test('a permission is of no use for the next proxy that asks about another route', async () => {
  const { pay } = await start({ passesUnmatched: false });
  const headers = pay();
  expect((await at('/authorize', question('GET', '/report', headers))).status).toBe(200);
  expect((await at('/authorize', question('GET', '/report?other', headers))).reason).toBe('spent');
  expect((await at('/authorize', question('GET', '/other', headers))).reason).toBe('no_route');
});
