import { createHmac, generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { jwtVerify } from 'jose';
import { newId } from '../../../../shared/lib/id.ts';
import { CoinbaseConfig, createCoinbase } from './coinbase.ts';
import type { Onramp, SignedMessage } from './onramp.ts';

/** Vectors of the documented scheme, altered messages, and the calls to the API. */

const refusal = (work: () => unknown): string => {
  try {
    work();
    return 'ok';
  } catch (error) {
    return (error as { code: string }).code;
  }
};
const hmac = (key: string, text: string) => createHmac('sha256', key).update(text).digest('hex');

const ed25519 = generateKeyPairSync('ed25519');
const jwk = ed25519.privateKey.export({ format: 'jwk' });
const ED25519_SECRET = Buffer.concat([
  Buffer.from(jwk.d!, 'base64url'),
  Buffer.from(jwk.x!, 'base64url'),
]).toString('base64');

const coinbaseAt = (seconds: number, more: object = {}) =>
  createCoinbase(
    CoinbaseConfig.parse({
      api_url: 'https://api.cdp.coinbase.com/platform',
      status_url: 'https://api.developer.coinbase.com/onramp',
      key_id: 'organizations/o/apiKeys/k',
      key_secret: ED25519_SECRET,
      webhook_secret: '123e4567-e89b-12d3-a456-426614174000',
      user_ref_prefix: 'sandbox-',
      ...more,
    }),
    () => seconds * 1000,
  );

const DEPOSIT = newId('dep');
const OWNER = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const HASH = '5'.repeat(88);

describe('Coinbase', () => {
  const T = 1728394718;
  const SECRET = '123e4567-e89b-12d3-a456-426614174000';
  const BODY =
    '{"eventType":"onramp.transaction.success","transactionId":"t1","status":"ONRAMP_TRANSACTION_STATUS_SUCCESS"}';
  const V0 = '6d5ec20463969a15916a5a715764f7eb38ddc304500cee7dcf1f603d0ba78aed';
  const V1 = 'a0f705096483ce77cd924025b2466f7d84e35dd22564a95c5ef0f6d8b0a2ffe7';
  const H = 'content-type x-event-id x-event-type';
  const sent = {
    'content-type': 'application/json',
    'x-event-id': 'evt_1',
    'x-event-type': 'onramp.transaction.success',
  };
  const message = (header: string, body = BODY, headers: Record<string, string> = sent): SignedMessage => ({
    body: Buffer.from(body),
    headers: { ...headers, 'x-hook0-signature': header },
  });

  test.each([
    ['the vector, both signatures', T, `t=${T},v0=${V0},h=${H},v1=${V1}`, BODY, sent, 'ok'],
    ['v0 alone', T, `t=${T},v0=${V0}`, BODY, sent, 'ok'],
    ['v0 valid and v1 invalid', T, `t=${T},v0=${V0},h=${H},v1=${V0}`, BODY, sent, 'unauthorized'],
    ['v1 valid and v0 invalid', T, `t=${T},v0=${V1},h=${H},v1=${V1}`, BODY, sent, 'ok'],
    [
      'a bound header changed',
      T,
      `t=${T},v0=${V0},h=${H},v1=${V1}`,
      BODY,
      { ...sent, 'x-event-id': 'evt_2' },
      'unauthorized',
    ],
    ['one space appended', T, `t=${T},v0=${V0},h=${H},v1=${V1}`, `${BODY} `, sent, 'unauthorized'],
    ['older than five minutes', T + 301, `t=${T},v0=${V0},h=${H},v1=${V1}`, BODY, sent, 'unauthorized'],
    ['no signature', T, '', BODY, sent, 'unauthorized'],
    ['another key', T, `t=${T},v0=${hmac('wk_test_vector', `${T}.${BODY}`)}`, BODY, sent, 'unauthorized'],
  ])('the signature of a webhook is checked: %s', (_name, now, header, body, headers, expected) => {
    expect(refusal(() => coinbaseAt(now).readWebhook(message(header, body, headers)))).toBe(expected);
  });

  const data = {
    eventType: 'onramp.transaction.updated',
    transactionId: 'cb-1',
    status: 'ONRAMP_TRANSACTION_STATUS_SUCCESS',
    partnerUserRef: `sandbox-${DEPOSIT}`,
    purchaseCurrency: 'USDC',
    purchaseNetwork: 'solana',
    purchaseAmount: { currency: 'USDC', value: '48.25' },
    walletAddress: OWNER,
    txHash: HASH,
  };
  const read = (body: object) => {
    const text = JSON.stringify(body);
    return coinbaseAt(T).readWebhook(message(`t=${T},v0=${hmac(SECRET, `${T}.${text}`)}`, text));
  };

  test('a successful transaction is read as sent, with its amount and transaction', () => {
    expect(read(data)).toMatchObject({
      depositId: DEPOSIT,
      transactionId: 'cb-1',
      event: 'sent',
      amountMicro: 48_250_000n,
      txHash: HASH,
    });
  });
  test.each([
    ['CREATED', 'waiting'],
    ['AWAITING_AUTH', 'waiting'],
    ['AWAITING_PAYMENT', 'waiting'],
    ['IN_PROGRESS', 'paid'],
    ['SUCCESS', 'sent'],
    ['FAILED', 'refused'],
  ])('the status %s is read as %s', (status, expected) => {
    expect(read({ ...data, status: `ONRAMP_TRANSACTION_STATUS_${status}` })?.event).toBe(expected);
  });
  test.each([
    ['another event type', { ...data, eventType: 'offramp.transaction.success' }],
    ['the reference of another environment', { ...data, partnerUserRef: DEPOSIT }],
    ['no reference', { ...data, partnerUserRef: undefined }],
    ['an unspecified status', { ...data, status: 'ONRAMP_TRANSACTION_STATUS_UNSPECIFIED' }],
  ])('a message with %s is ignored', (_name, body) => expect(read(body)).toBeNull());
  test.each([
    ['another coin', { ...data, purchaseAmount: { currency: 'ETH', value: '48.25' } }],
    ['another network', { ...data, purchaseNetwork: 'base' }],
  ])('a purchase of %s has no amount', (_name, body) => expect(read(body)?.amountMicro).toBeNull());
  test.each([undefined, '', 'a\u0000', '\ud800', 'a\n', 'x'.repeat(129)])(
    'a message whose transaction id is %j, which is none or cannot be stored, is refused as malformed',
    (transactionId) => {
      expect(refusal(() => read({ ...data, transactionId }))).toBe('validation_error');
    },
  );

  describe('calls', () => {
    const seen: { method: string; url: string; token: string; body: string }[] = [];
    let answer = { status: 201, body: '{}' };
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (part) => {
        body += part;
      });
      request.on('end', () => {
        const token = (request.headers.authorization ?? '').replace('Bearer ', '');
        seen.push({ method: request.method!, url: request.url!, token, body });
        response.writeHead(answer.status).end(answer.body);
      });
    });
    let base = '';
    beforeAll(async () => {
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
      base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    });
    afterAll(() => void server.close());

    const at = (more: object = {}): Onramp =>
      coinbaseAt(Date.now() / 1000, { api_url: `${base}/platform`, status_url: `${base}/onramp`, ...more });
    const purchase = {
      depositId: DEPOSIT,
      owner: OWNER,
      fiatCurrency: 'USD',
      fiatAmount: '50.00',
      returnUrl: null,
    };
    const page = { session: { onrampUrl: 'https://pay.coinbase.com/buy?sessionToken=abc' } };

    test('the request of a session has a token for this one request', async () => {
      answer = { status: 201, body: JSON.stringify({ ...page, quote: { purchaseAmount: '48.25' } }) };
      expect(await at().open(purchase)).toEqual({
        paymentUrl: page.session.onrampUrl,
        promisedMicro: 48_250_000n,
      });
      const { method, url, token, body } = seen.at(-1)!;
      const { payload, protectedHeader } = await jwtVerify(token, ed25519.publicKey);
      expect(protectedHeader).toEqual({
        alg: 'EdDSA',
        typ: 'JWT',
        kid: 'organizations/o/apiKeys/k',
        nonce: expect.stringMatching(/^[0-9a-f]{32}$/),
      });
      const host = new URL(base).host;
      expect(payload).toMatchObject({
        sub: 'organizations/o/apiKeys/k',
        iss: 'cdp',
        uris: [`POST ${host}/platform/v2/onramp/sessions`],
      });
      expect(payload.exp! - payload.iat!).toBe(120);
      expect([method, url]).toEqual(['POST', '/platform/v2/onramp/sessions']);
      expect(JSON.parse(body)).toEqual({
        purchaseCurrency: 'USDC',
        destinationNetwork: 'solana',
        destinationAddress: OWNER,
        paymentAmount: '50.00',
        paymentCurrency: 'USD',
        partnerUserRef: `sandbox-${DEPOSIT}`,
      });
    });

    test('an ES256 key signs the token as well', async () => {
      const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      answer = { status: 201, body: JSON.stringify(page) };
      await at({ key_secret: privateKey.export({ format: 'pem', type: 'sec1' }) }).open(purchase);
      expect((await jwtVerify(seen.at(-1)!.token, publicKey)).protectedHeader.alg).toBe('ES256');
    });

    test.each([
      ['a refusal', 400, '{"errorType":"invalid_request","errorMessage":"secret"}', 'conflict'],
      ['an error of our credentials', 401, '{}', 'service_unavailable'],
      ['too many requests', 429, '{}', 'service_unavailable'],
      ['an internal error', 500, 'oops', 'service_unavailable'],
      ['a body that is not JSON', 201, '<html>', 'service_unavailable'],
      [
        'a page address that is not http',
        201,
        '{"session":{"onrampUrl":"javascript:alert(1)"}}',
        'service_unavailable',
      ],
    ])(
      '%s (status %d) makes no page, and the error repeats nothing of the answer',
      async (_name, status, body, code) => {
        answer = { status, body };
        const error = await at()
          .open(purchase)
          .then(
            () => null,
            (thrown: unknown) => thrown as Error,
          );
        expect(error).toMatchObject({ code });
        expect(error!.message).not.toContain('secret');
      },
    );

    test('a poll reads the payments in snake case and in camel case', async () => {
      const transaction = {
        transaction_id: 'cb-2',
        status: 'ONRAMP_TRANSACTION_STATUS_IN_PROGRESS',
        purchase_amount: { currency: 'USDC', value: '48.25' },
        purchase_network: 'solana',
        wallet_address: OWNER,
        tx_hash: '',
      };
      answer = { status: 200, body: JSON.stringify({ transactions: [data, transaction], total_count: 2 }) };
      const reports = await at().poll(DEPOSIT);
      expect(reports.map(({ transactionId, event, txHash }) => [transactionId, event, txHash])).toEqual([
        ['cb-2', 'paid', null],
        ['cb-1', 'sent', HASH],
      ]);
      const { url, token } = seen.at(-1)!;
      expect(url).toBe(`/onramp/v1/buy/user/sandbox-${DEPOSIT}/transactions?page_size=20`);
      const { payload } = await jwtVerify(token, ed25519.publicKey);
      // The token names the path without the query.
      expect(payload.uris).toEqual([
        `GET ${new URL(base).host}/onramp/v1/buy/user/sandbox-${DEPOSIT}/transactions`,
      ]);
    });

    test('a reference that Coinbase does not know has no payments', async () => {
      answer = { status: 404, body: '{}' };
      expect(await at().poll(DEPOSIT)).toEqual([]);
    });
  });

  test('a key of a wrong length is refused, and the error does not repeat it', () => {
    const result = CoinbaseConfig.shape.key_secret.safeParse('c2VjcmV0');
    expect(JSON.stringify(result.error)).not.toContain('c2VjcmV0');
  });
});
