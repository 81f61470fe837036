import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  askedBy,
  fromBase64,
  paymentOn,
  paymentV1,
  wireTransaction,
} from '../../../../test/support/actors/incoming-buyers.ts';
import { refusal } from '../../../../test/support/stand-ins/scripted-server.ts';
import {
  at,
  RESOURCE,
  readAnswer,
  reasonOf,
  sellBy,
  startVendorApi,
  TERMS,
  type VendorApi,
} from '../../../../test/support/stand-ins/vendor-api.ts';
import { memoryStore } from '../main.ts';
import { x402 } from './x402.ts';

let api: VendorApi;
beforeEach(async () => {
  api = await startVendorApi();
});
afterEach(() => api.stop());
const SECRET = 'a secret of the vendor, 32 or more';
const sell = (options: Partial<Parameters<typeof x402>[0]> = {}) =>
  sellBy(api, undefined, { dialects: [x402({ secret: SECRET, ...options })] });
/** A message as the API gives it, and the details of an invalid field. */
const detailed = (message: string) => {
  const [, path, rest] = /^(transaction): (.+)$/.exec(message) ?? [];
  return { message, ...(path === undefined ? {} : { details: [{ path, message: rest }] }) };
};
const settled = () => [...api.incoming.values()][0]!;

describe('while the API creates no quote', () => {
  const limited = { status: 429, body: { error: { code: 'rate_limited', message: '' } }, retryAfter: 30 };
  const noQuotes = () => api.faults.push(({ call }) => (call === 'POST /v1/quote' ? limited : null));

  test('the 402 has the other offers, says when to ask again, and is paid by them', async () => {
    const { serve, deliveries } = sell();
    noQuotes();
    const { status, headers, body } = await readAnswer(serve(at('/report')));
    expect([status, headers.get('retry-after'), body]).toEqual([402, '30', { error: 'payment_required' }]);
    const offered = fromBase64(headers.get('payment-required'));
    expect(offered.accepts).toHaveLength(1);
    expect(api.log).toContainEqual(expect.objectContaining({ event: 'error', reason: 'rate_limited' }));
    const payment = paymentOn.x402(headers);
    expect((await serve(at('/report', payment))).status).toBe(200);
    expect(deliveries).toHaveLength(1);
  });

  test('a route that has no other offer gets 503', async () => {
    noQuotes();
    const pack = { price: '50000', prepaid: { units: 2 } };
    const paywall = api.paywall({ dialects: [x402({ secret: SECRET })] });
    expect(await reasonOf(paywall.protect(pack, () => Response.json({}))(at('/report')))).toBe(
      '503 service_unavailable no_quote',
    );
  });
});

describe('version 2', () => {
  test('PAYMENT-REQUIRED has the fields of the protocol, and returns our offer in extra', async () => {
    const { headers, body } = await readAnswer(sell().serve(at('/report?city=Ulm')));
    expect(fromBase64(headers.get('payment-required'))).toEqual({
      x402Version: 2,
      error: 'Payment required',
      resource: { url: RESOURCE, description: '0.05 USDC to shop.example.com', mimeType: '' },
      accepts: [
        {
          scheme: 'exact',
          network: TERMS.network,
          amount: '50000',
          asset: TERMS.mint,
          payTo: TERMS.payout_address,
          maxTimeoutSeconds: 300,
          extra: {
            feePayer: TERMS.fee_payer,
            memo: expect.stringMatching(/^[\w-]{22}$/),
            offer: expect.stringMatching(/^[\w-]+\.[\w-]{43}$/),
            paymentFlow: 'upfront',
          },
        },
      ],
    });
    expect(body).not.toHaveProperty('x402Version');
  });

  test('a paid answer has PAYMENT-RESPONSE with the transaction and our settlement', async () => {
    const { serve } = sell();
    const payment = paymentOn.x402((await serve(at('/report'))).headers);
    const { headers } = await serve(at('/report', payment));
    expect(fromBase64(headers.get('payment-response'))).toEqual({
      success: true,
      transaction: 'the transaction',
      network: TERMS.network,
      payer: 'the payer',
      amount: '50000',
      extra: { quittance: { settlement_id: settled().settlement_id } },
    });
    expect(headers.get('x-payment-response')).toBeNull();
  });

  test.each([
    ['insufficient_funds', 402, 'insufficient_funds'],
    ['payment_failed', 409, 'invalid_exact_svm_transaction_failed'],
    ['payment_failed', 409, 'invalid_exact_svm_transaction_simulation_failed', 'simulation_failed: no funds'],
    ['validation_error', 400, 'mint_mismatch', 'transaction: mint_mismatch: another mint'],
    ['validation_error', 400, 'validation_error', 'rail: is unknown'],
    ['conflict', 409, 'conflict', 'Something else.'],
  ])(
    'a payment refused with %s has PAYMENT-RESPONSE with the reason',
    async (code, status, reason, message = '') => {
      const { serve } = sell();
      const payment = paymentOn.x402((await serve(at('/report'))).headers);
      api.faults.push(({ call }) =>
        call === 'POST /v1/settlements/foreign' ? refusal(status, code, detailed(message)) : null,
      );
      const { headers } = await serve(at('/report', payment));
      expect(fromBase64(headers.get('payment-response'))).toEqual({
        success: false,
        errorReason: reason,
        transaction: '',
        network: TERMS.network,
      });
      expect(fromBase64(headers.get('payment-required')).error).toBe(reason);
    },
  );

  test('an open outcome has none of the headers with which a client begins anew', async () => {
    const { serve } = sell();
    const payment = paymentOn.x402((await serve(at('/report'))).headers);
    api.faults.push(({ call }) =>
      call === 'POST /v1/settlements/foreign'
        ? { status: 503, body: { error: { code: 'service_unavailable', message: '' } }, retryAfter: 60 }
        : null,
    );
    const { status, headers, body } = await readAnswer(serve(at('/report', payment)));
    expect([status, headers.get('retry-after'), body.error]).toEqual([503, '60', 'service_unavailable']);
    for (const name of ['payment-required', 'payment-response', 'www-authenticate'])
      expect(headers.get(name)).toBeNull();
    expect(body).toEqual({ error: 'service_unavailable', details: { reason: 'being_confirmed' } });
  });

  test('an altered offer, or one with other terms beside it, is refused without a call', async () => {
    const { serve } = sell();
    const { headers } = await serve(at('/report'));
    const [accepted] = fromBase64(headers.get('payment-required')).accepts;
    const [payload, mac] = accepted.extra.offer.split('.');
    const longer = Buffer.from(JSON.stringify({ ...fromBase64(payload), e: 9e9 })).toString('base64url');
    const offers = [`${longer}.${mac}`, `${payload}.`, payload, `${payload}.${mac}.`, '.', 7, null];
    const altered = [
      ...offers.map((offer) => ({ extra: { ...accepted.extra, offer } })),
      { extra: { ...accepted.extra, feePayer: TERMS.payout_address } },
      { payTo: TERMS.fee_payer },
      { payTo: { toString: 1, valueOf: 1 } },
      { asset: TERMS.payout_address },
      { amount: '1' },
    ];
    for (const change of altered) {
      const other = { ...accepted, ...change };
      const transaction = wireTransaction(askedBy.x402(headers));
      const payment = { x402Version: 2, accepted: other, payload: { transaction } };
      const header = Buffer.from(JSON.stringify(payment)).toString('base64');
      expect(await reasonOf(serve(at('/report', { 'payment-signature': header })))).toBe(
        '402 payment_failed invalid_offer',
      );
    }
    expect(api.incoming.size).toBe(0);
  });
});

describe('version 1', () => {
  test('is off by default: X-PAYMENT is no payment, and the body has no requirements', async () => {
    const { serve } = sell();
    const { accepts } = (await readAnswer(sell({ v1: true }).serve(at('/report')))).body;
    expect(await reasonOf(serve(at('/report', paymentV1(accepts[0]))))).toBe('402 payment_required');
    expect(api.incoming.size).toBe(0);
  });

  test('has requirements in the body beside the quote, and settles at the price of the route without a memo', async () => {
    const { serve, deliveries } = sell({ v1: true });
    const { headers, body } = await readAnswer(serve(at('/report')));
    expect(fromBase64(headers.get('payment-required')).x402Version).toBe(2);
    expect(body).toMatchObject({
      error: 'payment_required',
      quote_amount: '50000',
      x402Version: 1,
      accepts: [
        {
          scheme: 'exact',
          network: 'solana-devnet',
          maxAmountRequired: '50000',
          resource: RESOURCE,
          description: '0.05 USDC to shop.example.com',
          mimeType: '',
          payTo: TERMS.payout_address,
          maxTimeoutSeconds: 300,
          asset: TERMS.mint,
          extra: { feePayer: TERMS.fee_payer },
        },
      ],
    });
    const payment = paymentV1(body.accepts[0]);
    const paid = await readAnswer(serve(at('/report', payment)));
    expect(paid.status).toBe(200);
    expect(fromBase64(paid.headers.get('x-payment-response'))).toMatchObject({
      success: true,
      transaction: 'the transaction',
      network: 'solana-devnet',
      payer: 'the payer',
    });
    expect(paid.headers.get('payment-response')).toBeNull();
    const asked = api.asked.find(({ call }) => call === 'POST /v1/settlements/foreign')!.body!;
    expect(asked).toMatchObject({ rail: 'x402', quote_amount: '50000' });
    expect(asked).not.toHaveProperty('memo');
    expect(await reasonOf(serve(at('/report?other', payment)))).toBe('402 payment_failed spent');
    expect(deliveries).toHaveLength(1);
  });

  test('a version 2 payload under the old header is refused', async () => {
    const { serve } = sell({ v1: true });
    const { 'payment-signature': header } = paymentOn.x402((await serve(at('/report'))).headers);
    const said = await readAnswer(serve(at('/report', { 'x-payment': header! })));
    expect(said.body).toMatchObject({ x402Version: 1, details: { reason: 'invalid_payload' } });
    expect(fromBase64(said.headers.get('x-payment-response')).success).toBe(false);
  });
});

test('replicas on a store deliver a payment of one offer by the other', async () => {
  const store = memoryStore();
  const [one, other] = [1, 2].map(() =>
    sellBy(api, undefined, { dialects: [x402({ secret: SECRET })], store }),
  );
  const payment = paymentOn.x402((await one!.serve(at('/report'))).headers);
  await readAnswer(other!.serve(at('/report', payment)));
  const again = await readAnswer(one!.serve(at('/report', payment)));
  expect([again.status, again.headers.get('x-payment-replayed')]).toEqual([200, 'true']);
});
