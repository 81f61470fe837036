import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { DELEGATE_KEY } from '../../../../test/support/base/keys.ts';
import {
  errorOf,
  type Harness,
  honestX402,
  presentedIn,
  requirement,
  SERVICE_WALLET,
  startHarness,
  type Visit,
  x402Bill,
  x402BillV1,
  x402Delivery,
} from '../../../../test/support/stand-ins/scripted-vendors.ts';
import {
  NotAllowedError,
  NotDeliveredError,
  PaidRedirectError,
  PaymentOpenError,
  payingFetch,
  ResourceMismatchError,
} from '../main.ts';

/** Vendors of x402 that try to be paid too much, twice, elsewhere, or for nothing. */

const OTHER = '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin';

let harness: Harness;
beforeEach(async () => {
  harness = await startHarness();
});
afterEach(() => harness.stop());

const signs = () => harness.api.asked.filter(({ call }) => call === 'POST /v1/payments');
const shown = ({ visits }: { visits: Visit[] }) =>
  visits.map(presentedIn).filter((each) => each !== undefined);
const { extra: _extra, ...withoutExtra } = requirement();

test.each<[string, unknown]>([
  ['another network', requirement({ network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' })],
  ['the network by its name of version 1', requirement({ network: 'solana-devnet' })],
  ['another mint', requirement({ asset: OTHER })],
  ['another scheme', requirement({ scheme: 'upto' })],
  ['no fee payer', withoutExtra],
  ['no recipient', requirement({ payTo: undefined })],
  ['a number as its amount', requirement({ amount: 1000 })],
  ['a fraction', requirement({ amount: '0.5' })],
  ['a negative amount', requirement({ amount: '-1' })],
  ['only the amount of version 1', requirement({ amount: undefined, maxAmountRequired: '1' })],
  ['9 KB of additions', requirement({ outputSchema: 'x'.repeat(9000) })],
])('an offer with %s is not paid, and the 402 is returned unchanged', async (_name, offer) => {
  const vendor = await harness.vendor(() => x402Bill(offer));
  const answer = await harness.payer()(vendor.origin);
  expect(answer.status).toBe(402);
  expect(await answer.json()).toEqual({});
  expect(signs()).toEqual([]);
});

test.each([
  ['no base64', '%%%'],
  ['no JSON', Buffer.from('{').toString('base64')],
  ['a JSON null', Buffer.from('null').toString('base64')],
  [
    'a wrong version',
    Buffer.from(JSON.stringify({ x402Version: 3, accepts: [requirement()] })).toString('base64'),
  ],
  ['an object instead of a list', Buffer.from('{"x402Version":2,"accepts":{}}').toString('base64')],
])('a header that is %s is returned unchanged', async (_name, header) => {
  const vendor = await harness.vendor(() => ({ status: 402, headers: { 'payment-required': header } }));
  expect((await harness.payer()(vendor.origin)).status).toBe(402);
  expect(harness.api.asked).toEqual([]);
});

/** A payer whose vendors give this answer, whatever servers can send. */
const payerOf = (answer: () => Response) => {
  const { baseUrl } = harness.api;
  return payingFetch(
    async (url, init) => (url.startsWith(baseUrl) ? globalThis.fetch(url, init) : answer()),
    { baseUrl, delegateKey: DELEGATE_KEY, maxAmount: 5000n },
  );
};

test('an offer that is nested too deeply to be written again is returned unchanged', async () => {
  const { amount: _amount, ...rest } = requirement({ network: 'solana-devnet', maxAmountRequired: '1' });
  const text = JSON.stringify({ x402Version: 1, accepts: [{ ...rest, outputSchema: 'here' }] });
  const deep = text.replace('"here"', '['.repeat(20_000) + ']'.repeat(20_000));
  const answer = await payerOf(() => new Response(deep, { status: 402 }))('https://vendor.example/');
  expect([answer.status, await answer.text()]).toEqual([402, deep]);
  expect(signs()).toEqual([]);
});

test('a header or a body that is too large is not read', async () => {
  const large = { ...requirement(), description: 'x'.repeat(60_000) };
  const { amount, ...rest } = requirement({ network: 'solana-devnet', maxAmountRequired: '1' });
  const inBody = await harness.vendor(() => x402BillV1({ ...rest, amount, description: 'x'.repeat(80_000) }));
  expect((await harness.payer()(inBody.origin)).status).toBe(402);
  // A platform without a limit of its own for headers.
  const pay = payerOf(() => new Response('{}', { status: 402, headers: x402Bill(large).headers! }));
  expect((await pay('https://vendor.example/')).status).toBe(402);
  expect(signs()).toEqual([]);
});

test.each<[string, object]>([
  ['a higher price', { amount: '5000' }],
  ['another recipient', { payTo: OTHER }],
  ['another fee payer', { extra: { feePayer: OTHER } }],
])('%s in the second 402 is never paid', async (_name, change) => {
  const vendor = await harness.vendor((visit) =>
    presentedIn(visit) === undefined ? x402Bill(requirement()) : x402Bill(requirement(change)),
  );
  const pay = harness.payer();
  for (let i = 0; i < 3; i += 1)
    expect(await errorOf(pay(vendor.origin, { paymentKey: 'k' }))).toBeInstanceOf(PaymentOpenError);
  expect(harness.signed()).toHaveLength(1);
  for (const { body } of signs()) expect(body).toMatchObject({ requirement: requirement() });
  expect(new Set(shown(vendor)).size).toBe(1);
});

test('a recipient that changes between the tries: the first bytes are shown again', async () => {
  let asked = 0;
  const vendor = await harness.vendor((visit) => {
    asked += 1;
    if (presentedIn(visit) === undefined)
      return x402Bill(requirement({ payTo: asked === 1 ? SERVICE_WALLET : OTHER }));
    return asked < 4 ? { status: 500 } : x402Delivery();
  });
  const pay = harness.payer();
  for (const status of [500, 500, 200]) expect((await pay(vendor.origin)).status).toBe(status);
  expect(harness.signed()).toHaveLength(1);
  for (const { body } of signs()) expect(body).toMatchObject({ requirement: { payTo: SERVICE_WALLET } });
});

test('a vendor that says it was paid and answers 402 is believed by no one', async () => {
  const vendor = await harness.vendor((visit) => {
    const { headers } = x402Delivery();
    const billed = x402Bill(requirement());
    return presentedIn(visit) === undefined
      ? billed
      : { ...billed, headers: { ...billed.headers, ...headers } };
  });
  expect(await errorOf(harness.payer()(vendor.origin))).toBeInstanceOf(PaymentOpenError);
  harness.script.report = () => ({
    status: 200,
    body: { settlement_id: 's', status: 'confirmed', tx_hash: 'h' },
  });
  expect(await errorOf(harness.payer()(vendor.origin))).toMatchObject({ txHash: 'h' });
  expect(await errorOf(harness.payer()(vendor.origin))).toBeInstanceOf(NotDeliveredError);
});

test('a redirect after the payment is not followed, so no other origin gets the payment', async () => {
  const other = await harness.vendor(honestX402());
  const vendor = await harness.vendor((visit) =>
    presentedIn(visit) === undefined
      ? x402Bill(requirement())
      : { status: 307, headers: { location: other.origin } },
  );
  const pay = harness.payer();
  for (let i = 0; i < 2; i += 1) {
    const error = await errorOf(pay(vendor.origin, { method: 'POST', body: 'x' }));
    expect(error).toBeInstanceOf(PaidRedirectError);
    expect(error).toMatchObject({ location: other.origin, settlementId: harness.signed()[0] });
  }
  expect(other.visits).toEqual([]);
  expect(harness.signed()).toHaveLength(1);
});

test('a redirect before the payment to another origin, and a redirected POST, are not paid', async () => {
  const other = await harness.vendor(honestX402());
  const vendor = await harness.vendor(() => ({ status: 307, headers: { location: other.origin } }));
  expect(await errorOf(harness.payer()(vendor.origin))).toBeInstanceOf(ResourceMismatchError);
  const own = await harness.vendor((visit) =>
    visit.path === '/old' ? { status: 303, headers: { location: '/new' } } : honestX402()(visit),
  );
  const post = harness.payer()(`${own.origin}/old`, { method: 'POST', body: 'x' });
  expect(await errorOf(post)).toBeInstanceOf(ResourceMismatchError);
  expect(signs()).toEqual([]);
});

test('plain http to another machine is refused', async () => {
  const { headers } = x402Bill(requirement());
  const { baseUrl } = harness.api;
  const pay = payingFetch(
    (url, init) =>
      url.startsWith(baseUrl)
        ? globalThis.fetch(url, init)
        : Promise.resolve(new Response('{}', { status: 402, headers: headers! })),
    { baseUrl, delegateKey: DELEGATE_KEY, maxAmount: 5000n },
  );
  expect(await errorOf(pay('http://vendor.internal/'))).toBeInstanceOf(NotAllowedError);
  expect(signs()).toEqual([]);
});

test('payment headers of the caller are replaced, and the key reaches no vendor', async () => {
  const vendor = await harness.vendor(honestX402());
  const answer = await harness.payer()(vendor.origin, {
    headers: { 'payment-signature': 'mine', 'x-payment': 'mine' },
  });
  expect(answer.status).toBe(200);
  expect(shown(vendor)).toEqual([`signed-${signs()[0]!.body!.payment_attempt_id}`]);
  for (const { headers } of vendor.visits) expect(JSON.stringify(headers)).not.toContain(DELEGATE_KEY);
});
