import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import type { FastifyInstance } from 'fastify';
import { CoinbaseConfig, createCoinbase } from '../../../services/funding/deposits/providers/coinbase.ts';
import { createMoonpay, MoonpayConfig } from '../../../services/funding/deposits/providers/moonpay.ts';
import { newId } from '../../../shared/lib/id.ts';
import { plainUsdc } from '../../../shared/lib/money/usdc.ts';
import { staysFor, waitFor } from '../../../test/support/base/wait.ts';
import { openPage, submitPage } from '../../../test/support/browser/payment-page.ts';
import { createPortPicker } from '../servers/ports.ts';
import { environmentKeys } from '../stack/keys.ts';
import { createDelivery } from './delivery.ts';
import { type Behaviour, usdcFor } from './purchases.ts';
import { createSandboxes } from './server.ts';

/** The sandboxes as our adapters use them. The end-to-end tests cover the payments on the chain. */

const folder = mkdtempSync(path.join(tmpdir(), 'onramps-'));
const keys = environmentKeys(folder, 'test');
const OWNER = Keypair.generate().publicKey.toBase58();
type Heard = { url: string; body: string; headers: Record<string, string> };
const heard: Heard[] = [];
let answer = 200;
const merchant = createServer((request, response) => {
  let body = '';
  request.on('data', (part) => {
    body += part;
  });
  request.on('end', () => {
    heard.push({ url: request.url!, body, headers: request.headers as Record<string, string> });
    response.writeHead(answer).end();
  });
});
let app: FastifyInstance;
let base = '';
let merchantUrl = '';

beforeAll(async () => {
  await new Promise<void>((done) => merchant.listen(0, '127.0.0.1', done));
  merchantUrl = `http://127.0.0.1:${(merchant.address() as AddressInfo).port}`;
  const port = await createPortPicker().any();
  app = createSandboxes({
    ONRAMPS_PORT: port,
    ONRAMPS_DATA_DIR: folder,
    ONRAMPS_WEBHOOKS: merchantUrl,
    ONRAMPS_ENVIRONMENT: 'test',
    ONRAMPS_RPC_URL: 'http://127.0.0.1:1',
    ONRAMPS_MINT: keys.mint,
    ONRAMPS_TREASURY_KEY: keys.onrampTreasury.secretKey,
    ONRAMPS_KEYS: keys.onramps,
  });
  await app.listen({ host: '127.0.0.1', port });
  base = `http://127.0.0.1:${port}`;
});
afterAll(async () => {
  await app.close();
  merchant.closeAllConnections();
  merchant.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  heard.length = 0;
  answer = 200;
});

const moonpay = (more: object = {}) => {
  const { publishableKey, secretKey, webhookKey } = keys.onramps.moonpay;
  const config = {
    widget_url: `${base}/moonpay/`,
    api_url: `${base}/moonpay`,
    publishable_key: publishableKey,
    secret_key: secretKey,
    webhook_key: webhookKey,
  };
  return createMoonpay(MoonpayConfig.parse({ ...config, ...more }), Date.now);
};
const coinbase = (more: object = {}, clock = Date.now) => {
  const { keyId, keySecret, webhookSecret } = keys.onramps.coinbase;
  const config = {
    api_url: `${base}/coinbase/platform`,
    status_url: `${base}/coinbase/onramp`,
    key_id: keyId,
    key_secret: keySecret,
    webhook_secret: webhookSecret,
    user_ref_prefix: 'sandbox-',
  };
  return createCoinbase(CoinbaseConfig.parse({ ...config, ...more }), clock);
};
const purchase = () => ({
  depositId: newId('dep'),
  owner: OWNER,
  fiatCurrency: 'EUR',
  fiatAmount: '12.30',
  returnUrl: 'https://shop.example/done?order=1',
});
const hears = (count: number): Promise<Heard[]> =>
  waitFor(
    () => heard,
    ({ length }) => length >= count,
  );
const code = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'ok',
    (error: { code: string }) => error.code,
  );

test('a declined card at MoonPay is reported by webhooks that our adapter accepts, and by its API', async () => {
  const wanted = purchase();
  const { paymentUrl } = await moonpay().open(wanted);
  const done = await submitPage(await openPage(paymentUrl), { action: 'decline' });
  expect(done.html).toContain('https://shop.example/done?order=1&#38;transactionId=');
  const [first, last] = await hears(2);
  expect(JSON.parse(first!.body).type).toBe('transaction_created');
  expect(JSON.parse(last!.body).type).toBe('transaction_failed');
  expect(last!.url).toBe('/moonpay/test/webhook');
  const { body, headers } = last!;
  const report = moonpay().readWebhook({ body: Buffer.from(body), headers });
  expect(report).toMatchObject({
    depositId: wanted.depositId,
    event: 'refused',
    walletAddress: OWNER,
    reason: 'rejected_card',
  });
  expect(await moonpay().poll(wanted.depositId)).toEqual([report]);
  expect(await moonpay().poll(newId('dep'))).toEqual([]);
  expect(await code(moonpay({ publishable_key: 'pk_other' }).poll(wanted.depositId))).toBe(
    'service_unavailable',
  );
});

test('a declined card at Coinbase is reported by webhooks that our adapter accepts, and by its API', async () => {
  const wanted = purchase();
  const { paymentUrl } = await coinbase().open(wanted);
  await submitPage(await openPage(paymentUrl), { action: 'pay', card: '4000 0000 0000 0002' });
  const [first, last] = await hears(2);
  expect([first!, last!].map(({ headers }) => headers['x-event-type'])).toEqual([
    'onramp.transaction.created',
    'onramp.transaction.failed',
  ]);
  const { body, headers } = last!;
  const report = coinbase().readWebhook({ body: Buffer.from(body), headers });
  expect(report).toMatchObject({ depositId: wanted.depositId, event: 'refused', walletAddress: OWNER });
  expect(await coinbase().poll(wanted.depositId)).toEqual([report]);
  expect(await coinbase().poll(newId('dep'))).toEqual([]);
});

const other = Buffer.alloc(64, 9).toString('base64');
test.each([
  ['the right token', {}, 0, 'ok'],
  ['the token of another key', { key_secret: other }, 0, 'service_unavailable'],
  ['a token with another key’s name', { key_id: 'other' }, 0, 'service_unavailable'],
  ['a token that is two minutes old', {}, -130_000, 'service_unavailable'],
  ['a token that is not valid yet', {}, 60_000, 'service_unavailable'],
])('a session is opened only for the right token: %s', async (_name, more, shiftMs, expected) => {
  expect(await code(coinbase(more, () => Date.now() + shiftMs).open(purchase()))).toBe(expected);
});

test('a token for one path is refused on another path', async () => {
  let stolen = '';
  const thief = createServer((request, response) => {
    stolen = request.headers.authorization!;
    response.end('{}');
  });
  await new Promise<void>((done) => thief.listen(0, '127.0.0.1', done));
  const host = `127.0.0.1:${(thief.address() as AddressInfo).port}`;
  await code(coinbase({ api_url: `http://${host}/coinbase/platform` }).open(purchase()));
  thief.closeAllConnections();
  thief.close();
  const response = await fetch(`${base}/coinbase/platform/v2/onramp/sessions`, {
    method: 'POST',
    headers: { authorization: stolen, 'content-type': 'application/json' },
    body: '{}',
  });
  expect(stolen).toMatch(/^Bearer ey/);
  expect(response.status).toBe(401);
});

test('Coinbase refuses a purchase for an invalid address', async () => {
  expect(await code(coinbase().open({ ...purchase(), owner: 'not-an-address' }))).toBe('conflict');
});

test('the server’s address shows a page that names both providers', async () => {
  const response = await fetch(`${base}/`);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html']);
  const text = await response.text();
  for (const name of ['/moonpay/', '/coinbase/']) expect(text).toContain(name);
});

test('another host name is refused, so a foreign page cannot pay here', async () => {
  const response = await app.inject({ url: '/health', headers: { host: 'rebound.example.com' } });
  expect(response.statusCode).toBe(421);
});

const GOOD: Behaviour = { lateMs: 0, twice: false, reversed: false, silent: false, transfer: 'full' };
const sends = async (behaviour: Partial<Behaviour>, count: number) => {
  const delivery = createDelivery();
  const isHeardAtOnce = !behaviour.reversed && !behaviour.silent;
  for (const [index, body] of ['1', '2', '3'].entries()) {
    const sign = (text: string) => ({ mark: createHmac('sha256', 'k').update(text).digest('hex') });
    const about = { id: 'p', behaviour: { ...GOOD, ...behaviour } };
    delivery.send(about, { url: merchantUrl, body, sign }, { over: body === '3' });
    if (isHeardAtOnce) await hears(((index + 1) * count) / 3);
  }
  await hears(count);
  await staysFor(
    300,
    () => heard.length,
    (length) => length === count,
  );
  return heard.map(({ body }) => body).join('');
};
test.each([
  ['in order', {}, '123'],
  ['twice', { twice: true }, '112233'],
  ['in reverse order', { reversed: true }, '321'],
  ['never', { silent: true }, ''],
  ['late', { lateMs: 200 }, '123'],
])('the receiver gets the webhooks %s', async (_name, behaviour, expected) => {
  expect(await sends(behaviour, expected.length)).toBe(expected);
});

test('a webhook that the receiver refuses is sent again', async () => {
  answer = 503;
  const delivery = createDelivery();
  delivery.send(
    { id: 'p', behaviour: GOOD },
    { url: merchantUrl, body: 'x', sign: () => ({}) },
    { over: true },
  );
  await hears(1);
  answer = 200;
  await hears(2);
  await staysFor(
    700,
    () => heard.length,
    (length) => length === 2,
  );
});

test.each([
  ['50.00', '48.50'],
  ['50', '48.50'],
  ['0.01', '0.0097'],
  ['12.3', '11.931'],
  ['100', '97.00'],
])('%s of fiat money buys %s USDC', (fiat, expected) => expect(plainUsdc(usdcFor(fiat))).toBe(expected));
