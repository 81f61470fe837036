import { createHmac } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { newId } from '../../../../shared/lib/id.ts';
import { createMoonpay, MoonpayConfig, signSearch } from './moonpay.ts';
import type { SignedMessage } from './onramp.ts';

/** Vectors of the documented scheme, and altered messages. */

const refusal = (work: () => unknown): string => {
  try {
    work();
    return 'ok';
  } catch (error) {
    return (error as { code: string }).code;
  }
};
const hmac = (key: string, text: string) => createHmac('sha256', key).update(text).digest('hex');

const moonpayAt = (seconds: number, more: object = {}) =>
  createMoonpay(
    MoonpayConfig.parse({
      widget_url: 'https://buy-sandbox.moonpay.com/',
      api_url: 'https://api.moonpay.com',
      publishable_key: 'pk_test_vector',
      secret_key: 'sk_test_vector',
      webhook_key: 'wk_test_vector',
      ...more,
    }),
    () => seconds * 1000,
  );
const DEPOSIT = newId('dep');
const OWNER = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const HASH = '5'.repeat(88);

describe('MoonPay', () => {
  const T = 1492774577;
  const BODY = '{"type":"transaction_updated","data":{"id":"x","status":"completed"}}';
  const SIGNATURE = '6e7719b3f1a438a42f9b44ed3a760252aa3ae65807b19af6329a18574578209f';
  const message = (header: string, body = BODY): SignedMessage => ({
    body: Buffer.from(body),
    headers: { 'moonpay-signature-v2': header },
  });

  test('the signature of a widget URL is that of the vector', () => {
    const search =
      '?apiKey=pk_test_vector&currencyCode=usdc_sol&baseCurrencyCode=usd&baseCurrencyAmount=50' +
      `&walletAddress=${OWNER}&externalTransactionId=dep_1&redirectURL=https%3A%2F%2Fapp.test%2Fdone%3Fx%3D1`;
    expect(signSearch(search, 'sk_test_vector')).toBe('PksYvNX45DIgdJkpD16KF0OGW42rrqafOCRtv9aIoGQ=');
  });

  test('the signature is the last parameter of a widget URL and covers all others', async () => {
    const { paymentUrl } = await moonpayAt(T).open({
      depositId: DEPOSIT,
      owner: OWNER,
      fiatCurrency: 'USD',
      fiatAmount: '50.10',
      returnUrl: "https://app.test/done?x=1&y= ü'",
    });
    const [, search, signature] = /^https:\/\/buy-sandbox\.moonpay\.com\/(\?.*)&signature=([^&]*)$/.exec(
      paymentUrl,
    )!;
    expect(decodeURIComponent(signature!)).toBe(signSearch(search!, 'sk_test_vector'));
    // Neither a browser nor MoonPay's server encodes it again.
    expect(new URL(paymentUrl).search).toBe(`${search}&signature=${signature}`);
    expect(Object.fromEntries(new URLSearchParams(search))).toMatchObject({
      walletAddress: OWNER,
      baseCurrencyCode: 'usd',
      baseCurrencyAmount: '50.10',
      externalTransactionId: DEPOSIT,
      redirectURL: "https://app.test/done?x=1&y= ü'",
    });
  });

  test.each([
    ['the vector', T, `t=${T},s=${SIGNATURE}`, BODY, 'ok'],
    ['five minutes late', T + 300, `t=${T},s=${SIGNATURE}`, BODY, 'ok'],
    ['five minutes and a second late', T + 301, `t=${T},s=${SIGNATURE}`, BODY, 'unauthorized'],
    ['five minutes and a second early', T - 301, `t=${T},s=${SIGNATURE}`, BODY, 'unauthorized'],
    ['a time that is not the signed one', T, `t=${T + 1},s=${SIGNATURE}`, BODY, 'unauthorized'],
    ['one space added', T, `t=${T},s=${SIGNATURE}`, BODY.replace(':', ': '), 'unauthorized'],
    ['one character changed', T, `t=${T},s=${SIGNATURE.replace('6', '7')}`, BODY, 'unauthorized'],
    ['a signature in upper case', T, `t=${T},s=${SIGNATURE.toUpperCase()}`, BODY, 'unauthorized'],
    ['two signatures', T, `t=${T},s=${SIGNATURE},s=${SIGNATURE}`, BODY, 'unauthorized'],
    ['no signature', T, `t=${T}`, BODY, 'unauthorized'],
    ['no time', T, `s=${SIGNATURE}`, BODY, 'unauthorized'],
    ['no header', T, '', BODY, 'unauthorized'],
    ['the body signed without the time', T, `t=${T},s=${hmac('wk_test_vector', BODY)}`, BODY, 'unauthorized'],
    [
      'signed by the key that signs URLs',
      T,
      `t=${T},s=${hmac('sk_test_vector', `${T}.${BODY}`)}`,
      BODY,
      'unauthorized',
    ],
  ])('the signature of a webhook is checked: %s', (_name, now, header, body, expected) => {
    expect(refusal(() => moonpayAt(now).readWebhook(message(header, body)))).toBe(expected);
  });

  test('a signature in Coinbase’s header is ignored', () => {
    const headers = { 'x-hook0-signature': `t=${T},v0=${hmac('wk_test_vector', `${T}.${BODY}`)}` };
    expect(refusal(() => moonpayAt(T).readWebhook({ body: Buffer.from(BODY), headers }))).toBe(
      'unauthorized',
    );
  });

  const read = (body: unknown) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return moonpayAt(T).readWebhook(message(`t=${T},s=${hmac('wk_test_vector', `${T}.${text}`)}`, text));
  };
  const data = {
    id: 'mp-1',
    status: 'completed',
    externalTransactionId: DEPOSIT,
    quoteCurrencyAmount: 48.5,
    walletAddress: OWNER,
    cryptoTransactionId: HASH,
    failureReason: null,
    currency: { code: 'usdc_sol' },
  };
  const event = (more: object, type = 'transaction_updated') => ({ type, data: { ...data, ...more } });

  test('a completed transaction is read as sent, with its amount and transaction', () => {
    expect(read(event({}))).toEqual({
      depositId: DEPOSIT,
      transactionId: 'mp-1',
      providerStatus: 'completed',
      event: 'sent',
      amountMicro: 48_500_000n,
      txHash: HASH,
      walletAddress: OWNER,
      reason: null,
    });
  });
  test('an amount that a float cannot hold is read digit by digit', () => {
    const body = JSON.stringify(event({})).replace('48.5', '90071992547.409931');
    expect(read(body)?.amountMicro).toBe(90_071_992_547_409_931n);
  });
  test.each([
    ['waitingPayment', null, 'waiting'],
    ['waitingAuthorization', null, 'waiting'],
    ['pending', null, 'paid'],
    ['failed', 'rejected_card', 'refused'],
    ['failed', 'cancelled', 'cancelled'],
  ])('the status %s with the reason %s is read as %s', (status, failureReason, expected) => {
    expect(read(event({ status, failureReason }))?.event).toBe(expected);
  });
  test.each([
    ['another event type', event({}, 'identity_check_updated')],
    ['a reference that is no deposit id', event({ externalTransactionId: 'order-7' })],
    ['no reference', event({ externalTransactionId: null })],
    ['an unknown status', event({ status: 'constructor' })],
  ])('a message with %s is ignored', (_name, body) => expect(read(body)).toBeNull());
  test.each([undefined, '', 'a\u0000', '\udfff', 'x'.repeat(129)])(
    'a message whose id is %j, which is none or cannot be stored, is refused as malformed',
    (id) => {
      expect(refusal(() => read(event({ id })))).toBe('validation_error');
    },
  );
  test('a purchase of another currency has no amount', () => {
    expect(read(event({ currency: { code: 'eth' } }))?.amountMicro).toBeNull();
  });
  test.each([
    ['no JSON', '{"type":'],
    ['no data', '{"type":"transaction_updated"}'],
    ['null', 'null'],
    ['a list', '[]'],
  ])('an authentic message with a malformed body is refused: %s', (_name, body) => {
    expect(refusal(() => read(body))).toBe('validation_error');
  });
});
