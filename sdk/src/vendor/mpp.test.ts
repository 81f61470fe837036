import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import {
  askedBy,
  challengeOf,
  fromBase64,
  paymentOn,
  wireTransaction,
} from '../../../test/support/incoming-buyers.ts';
import {
  at,
  readAnswer,
  reasonOf,
  sellBy,
  startVendorApi,
  TERMS,
  type VendorApi,
} from '../../../test/support/vendor-api.ts';
import { mpp } from './mpp.ts';

const SECRET = 'a secret of the vendor, 32 or more';
let api: VendorApi;
beforeEach(async () => {
  api = await startVendorApi();
});
afterEach(() => api.stop());
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
      /^402 payment_failed invalid_(offer|payload)$/,
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
