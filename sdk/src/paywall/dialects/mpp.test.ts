import { createHash, createHmac } from 'node:crypto';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import {
  askedBy,
  challengeOf,
  fromBase64,
  paymentOn,
  wireTransaction,
} from '../../../../test/support/actors/incoming-buyers.ts';
import {
  at,
  PUBLIC_URL,
  readAnswer,
  reasonOf,
  sellBy,
  startVendorApi,
  TERMS,
  type VendorApi,
} from '../../../../test/support/stand-ins/vendor-api.ts';
import type { Dialect } from '../main.ts';
import { mpp } from './mpp.ts';

const SECRET = 'a secret of the vendor, 32 or more';
let api: VendorApi;
beforeEach(async () => {
  api = await startVendorApi();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await api.stop();
});
const sell = (options: Partial<Parameters<typeof mpp>[0]> = {}) =>
  sellBy(api, undefined, { dialects: [mpp({ secret: SECRET, ...options })] });
const signed = (credential: object) => ({
  authorization: `Payment ${Buffer.from(JSON.stringify(credential)).toString('base64url')}`,
});

test('the challenge has the fields of the protocol, and its id is the HMAC of them in their order', async () => {
  const { headers } = await sell().serve(at('/report'));
  const { id, realm, method, intent, request, expires, opaque } = challengeOf(headers);
  expect([realm, method, intent]).toEqual(['shop.example.com', 'solana', 'charge']);
  const text = [realm, method, intent, request, expires, '', opaque].join('|');
  expect(id).toBe(createHmac('sha256', SECRET).update(text).digest('base64url'));
  expect(new Date(expires!).getTime()).toBeGreaterThan(Date.now() + 290_000);
  expect(headers.get('cache-control')).toBe('no-store');
  expect(Object.keys(fromBase64(opaque!))).toEqual(['offer']);
  const json = Buffer.from(request!, 'base64url').toString();
  expect(json).toBe(
    `{"amount":"50000","currency":"${TERMS.mint}","externalId":"${JSON.parse(json).externalId}",` +
      `"methodDetails":{"decimals":6,"feePayer":true,"feePayerKey":"${TERMS.fee_payer}","network":"devnet",` +
      `"splits":[{"amount":"2000","recipient":"${TERMS.fee.fee_wallet}"}],"tokenProgram":"${TERMS.token_program}"},` +
      `"recipient":"${TERMS.payout_address}"}`,
  );
});

test.each([
  ['50000', '2000'],
  ['400000', '2000'],
  ['400199', '2000'],
  ['400200', '2001'],
  ['1000000000', '5000000'],
])('of %s the split is %s, as the platform computes its fee', async (price, fee) => {
  const serve = api
    .paywall({ dialects: [mpp({ secret: SECRET })] })
    .protect({ price }, () => Response.json({}));
  const { request } = challengeOf((await serve(at('/report'))).headers);
  expect(fromBase64(request!)).toMatchObject({
    amount: price,
    methodDetails: { splits: [{ amount: fee, recipient: TERMS.fee.fee_wallet }] },
  });
});

test('a price that is no more than the fee has no challenge', async () => {
  const serve = api
    .paywall({ dialects: [mpp({ secret: SECRET })] })
    .protect({ price: '2000' }, () => Response.json({}));
  const { status, headers } = await serve(at('/report'));
  expect([status, headers.get('www-authenticate')]).toEqual([402, null]);
});

test('without a fee there is no split', async () => {
  const fee = { bps: 0, min: '0', fee_wallet: TERMS.fee.fee_wallet };
  api.faults.push(({ call }) => (call.endsWith('/terms') ? { status: 200, body: { ...TERMS, fee } } : null));
  const { request } = challengeOf((await sell().serve(at('/report'))).headers);
  expect(fromBase64(request!).methodDetails).not.toHaveProperty('splits');
});

test('a paid answer has Payment-Receipt with the transaction, and is private', async () => {
  const { serve } = sell();
  const payment = paymentOn.mpp((await serve(at('/report'))).headers);
  const { headers } = await serve(at('/report', payment));
  expect(fromBase64(headers.get('payment-receipt'))).toEqual({
    status: 'success',
    method: 'solana',
    timestamp: '2026-01-01T00:00:00.000Z',
    reference: 'the transaction',
  });
  expect(headers.get('payment-receipt')).toMatch(/^[\w-]+$/);
  expect(headers.get('cache-control')).toContain('private');
});

test('an altered field of the challenge is refused without a call', async () => {
  const { serve } = sell();
  const { headers } = await serve(at('/report'));
  const challenge = challengeOf(headers);
  const payload = { type: 'transaction', transaction: wireTransaction(askedBy.mpp(headers)) };
  const altered = [
    { ...challenge, header: 'Payment-Authorization' },
    { ...challenge, header: 7 },
    { ...challenge, id: `${challenge.id}A` },
    { ...challenge, id: undefined },
    { ...challenge, id: '%' },
    { ...challenge, realm: 'other.example.com' },
    { ...challenge, request: `${challenge.request}A` },
    { ...challenge, expires: '2099-01-01T00:00:00.000Z' },
    { ...challenge, digest: 'sha-256=AA==' },
    { ...challenge, opaque: undefined },
    { ...challenge, opaque: 7 },
  ];
  for (const each of altered)
    expect(await reasonOf(serve(at('/report', signed({ challenge: each, payload }))))).toMatch(
      /^402 payment_failed (invalid_offer|malformed_credential)$/,
    );
  expect(api.incoming.size).toBe(0);
  expect((await serve(at('/report', signed({ challenge, payload })))).status).toBe(200);
});

test('a signature of a transaction that the client has sent itself is refused', async () => {
  const { serve } = sell();
  const { headers } = await serve(at('/report'));
  const challenge = challengeOf(headers);
  const payload = { type: 'signature', signature: 'a', transaction: wireTransaction(askedBy.mpp(headers)) };
  expect(await reasonOf(serve(at('/report', signed({ challenge, payload }))))).toBe(
    '402 payment_failed invalid_payload',
  );
});

test('a token of the vendor in Authorization is no payment, and a payment beside it is read', async () => {
  const { serve } = sell();
  expect(await reasonOf(serve(at('/report', { authorization: 'Bearer a' })))).toBe('402 payment_required');
  const { authorization } = paymentOn.mpp((await serve(at('/report'))).headers);
  const both = { authorization: `Bearer a, ${authorization!.replace('Payment', 'payment')}` };
  expect((await serve(at('/report', both))).status).toBe(200);
});

test('a secret and a realm of the vendor are used, and unusable ones are refused at the start', async () => {
  const { serve } = sell({ realm: 'The shop' });
  const { headers } = await serve(at('/report'));
  expect(challengeOf(headers).realm).toBe('The shop');
  expect((await serve(at('/report', paymentOn.mpp(headers)))).status).toBe(200);
  for (const realm of ['a"b', 'a\\b', 'a|b', 'ä', 'a\nb'])
    expect(() => mpp({ secret: SECRET, realm })).toThrow(TypeError);
});

const PROBLEM = 'application/problem+json';
/** What the body of a refused payment says, by the draft of MPP. */
const problemOf = async (answer: Promise<Response>) => {
  const { status, headers, body } = await readAnswer(answer);
  expect([status, headers.get('content-type')]).toEqual([402, PROBLEM]);
  expect(body).toMatchObject({ status: 402, title: expect.any(String), detail: expect.any(String) });
  const { type, challengeId } = body as { type: string; challengeId: string };
  expect(challengeId).toBe(challengeOf(headers).id);
  return type.replace('https://paymentauth.org/problems/', '');
};

test('the 402 is Problem Details, with the quote beside them', async () => {
  const { serve } = sell();
  expect(await problemOf(serve(at('/report')))).toBe('payment-required');
  const { body, headers } = await readAnswer(serve(at('/report')));
  expect(body).toMatchObject({ error: 'payment_required', quote_token: expect.any(String) });
  expect(headers.get('access-control-expose-headers')).not.toContain('content-type');
});

test('without a challenge the 402 is plain JSON', async () => {
  api.faults.push(({ call }) => (call.endsWith('/terms') ? { status: 404, body: {} } : null));
  const plain = await readAnswer(sell().serve(at('/report')));
  expect(plain.headers.get('content-type')).toBe('application/json');
  expect(plain.body).not.toHaveProperty('type');
});

test('each refusal has the type that the draft has for it', async () => {
  const { serve } = sell();
  const { headers } = await serve(at('/report'));
  const challenge = challengeOf(headers);
  const payload = { type: 'transaction', transaction: wireTransaction(askedBy.mpp(headers)) };
  const typeOf = (credential: object, path = '/report') => problemOf(serve(at(path, signed(credential))));
  expect(await problemOf(serve(at('/report', { authorization: 'Payment dGhpcyBpcyBnYXJiYWdl' })))).toBe(
    'malformed-credential',
  );
  expect(await typeOf({ challenge })).toBe('malformed-credential');
  expect(await typeOf({ challenge: { ...challenge, id: 'other' }, payload })).toBe('invalid-challenge');
  expect(await typeOf({ challenge, payload }, '/other')).toBe('invalid-challenge');
  expect(await typeOf({ challenge, payload: { ...payload, type: 'signature' } })).toBe('invalid-payload');
  expect(await typeOf({ challenge, payload: { ...payload, transaction: 'AA==' } })).toBe('invalid-payload');
  const other = wireTransaction({ ...askedBy.mpp(headers), memo: 'another' });
  expect(await typeOf({ challenge, payload: { ...payload, transaction: other } })).toBe(
    'verification-failed',
  );
  const dearer = api.paywall({ dialects: [mpp({ secret: SECRET })] });
  const serveDearer = dearer.protect({ price: '60000' }, () => Response.json({}));
  expect(await problemOf(serveDearer(at('/report', signed({ challenge, payload }))))).toBe(
    'payment-insufficient',
  );
  expect(api.incoming.size).toBe(0);
  expect((await serve(at('/report', signed({ challenge, payload })))).status).toBe(200);
  // It was used by the request before.
  expect(await problemOf(serve(at('/report?q=1', signed({ challenge, payload }))))).toBe('invalid-challenge');
});

test('an expired challenge is payment-expired', async () => {
  const { serve } = sell();
  const payment = paymentOn.mpp((await serve(at('/report'))).headers);
  const now = Date.now();
  jest.spyOn(Date, 'now').mockImplementation(() => now + 421_000);
  expect(await problemOf(serve(at('/report', payment)))).toBe('payment-expired');
});

const posted = (body: string, headers: Record<string, string> = {}) =>
  new Request(`${PUBLIC_URL}/report`, { method: 'POST', body, headers });

test('a challenge is for the body of its request, and for no other', async () => {
  const { serve, deliveries } = sell();
  const { headers } = await serve(posted('{"city":"Bern"}'));
  const { digest } = challengeOf(headers);
  expect(digest).toBe(`sha-256=:${createHash('sha256').update('{"city":"Bern"}').digest('base64')}:`);
  const payment = paymentOn.mpp(headers) as Record<string, string>;
  expect(await reasonOf(serve(posted('{"city":"Ulm"}', payment)))).toBe('402 payment_failed other_body');
  expect(await reasonOf(serve(at('/report', payment)))).toBe('402 payment_failed other_body');
  const bodiless = paymentOn.mpp((await serve(at('/report'))).headers) as Record<string, string>;
  expect(await reasonOf(serve(posted('{}', bodiless)))).toBe('402 payment_failed other_body');
  expect([api.incoming.size, deliveries.length]).toEqual([0, 0]);
  expect((await serve(posted('{"city":"Bern"}', payment))).status).toBe(200);
});

test('a body that something has parsed has no digest, because its bytes are not those that were sent', async () => {
  const admission = await api.paywall({ dialects: [mpp({ secret: SECRET })] }).admit(
    {
      method: 'POST',
      target: '/report',
      header: () => null,
      body: async () => new TextEncoder().encode('{"city":"Bern"}'),
      isParsed: () => true,
    },
    {},
    { price: '50000' },
  );
  const { headers } = (admission as { response: Response }).response;
  expect(challengeOf(headers)).not.toHaveProperty('digest');
});

test('beside credentials of the request’s own the payment is in Payment-Authorization, and only there', async () => {
  const { serve } = sell();
  const own = { authorization: 'Bearer mine' };
  const { headers } = await serve(at('/report', own));
  const challenge = challengeOf(headers);
  expect(challenge.header).toBe('Payment-Authorization');
  const { id, realm, method, intent, request, expires, opaque, header } = challenge;
  const text = [realm, method, intent, request, expires, '', opaque, header].join('|');
  expect(id).toBe(createHmac('sha256', SECRET).update(text).digest('base64url'));
  const { authorization } = paymentOn.mpp(headers) as { authorization: string };
  expect(await reasonOf(serve(at('/report', { authorization })))).toBe('402 payment_failed other_field');
  const { authorization: usual } = paymentOn.mpp((await serve(at('/report'))).headers) as {
    authorization: string;
  };
  expect(await reasonOf(serve(at('/report', { 'payment-authorization': usual })))).toBe(
    '402 payment_failed other_field',
  );
  expect(api.incoming.size).toBe(0);
  const paid = await serve(at('/report', { ...own, 'payment-authorization': authorization }));
  expect([paid.status, paid.headers.get('cache-control')]).toEqual([200, 'private, no-store']);
});

test('challenges of several dialects share a header, in the order that Accept-Payment prefers', async () => {
  const text = 'Payment id="t", realm="shop", method="tempo", intent="charge", request="e30"';
  const tempo: Dialect = {
    name: 'tempo',
    offer: async () => ({ challenges: [{ method: 'tempo', intent: 'charge', text }] }),
    read: async () => null,
  };
  const { serve } = sellBy(api, undefined, { dialects: [tempo, mpp({ secret: SECRET })] });
  const order = async (accept?: string) => {
    const { headers } = await serve(at('/report', accept === undefined ? {} : { 'accept-payment': accept }));
    return [...headers.get('www-authenticate')!.matchAll(/method="(\w+)"/g)].map(([, method]) => method);
  };
  expect(await order()).toEqual(['tempo', 'solana']);
  expect(await order('solana/*, tempo/*;q=0.5')).toEqual(['solana', 'tempo']);
  expect(await order('solana/charge')).toEqual(['solana']);
  expect(await order('tempo/charge, solana/charge;q=0')).toEqual(['tempo']);
  expect(await order('stripe/charge')).toEqual(['tempo', 'solana']);
  expect(await order('not a range')).toEqual(['tempo', 'solana']);
});

test('an open outcome has no challenge', async () => {
  const { serve } = sell();
  const payment = paymentOn.mpp((await serve(at('/report'))).headers);
  api.faults.push(({ call }) =>
    call === 'POST /v1/settlements/foreign'
      ? { status: 500, body: { error: { code: 'internal_error', message: '' } }, retryAfter: 30 }
      : null,
  );
  const { status, headers } = await readAnswer(serve(at('/report', payment)));
  expect([status, headers.get('retry-after'), headers.get('www-authenticate')]).toEqual([503, '30', null]);
});
