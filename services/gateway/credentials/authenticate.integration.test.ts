import { createHmac, createPublicKey } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { SignJWT } from 'jose';
import { newId } from '../../../shared/lib/id.ts';
import { createKeyText } from '../../../shared/lib/key-text.ts';
import {
  type Gateway,
  type GatewayFixture,
  newDelegateKey,
  newSigningKey,
  type Services,
  sendRaw,
  startGatewayFixture,
} from '../../../test/support/gateway.ts';
import { gatewayCallers } from '../../../test/support/gateway-callers.ts';
import { waitUntil } from '../../../test/support/wait.ts';

const testSession = newSigningKey('test.session.1');
const liveSession = newSigningKey('live.session.1');
const testQuote = newSigningKey('test.quote.1');
const publicKeys = [testSession, liveSession, testQuote].map(({ entry }) => entry);

const list = { data: [], next_cursor: null };

let fixture: GatewayFixture;
let services: Services;
let gateway: Gateway;

beforeAll(async () => {
  fixture = await startGatewayFixture({ publicKeys, limits: { scale: 100 } });
  ({ services, gateway } = fixture);
}, 180_000);

afterAll(() => fixture.stop(), 60_000);

beforeEach(() => {
  services.calls.length = 0;
  services.answers['quote.list'] = () => list;
  services.answers['identity.listServices'] = () => list;
});

const { send, serviceKey, delegateKey, accessToken } = gatewayCallers(() => fixture, testSession);

const quoteId = newId('q');

const unknownKey = createKeyText('vendor_test_');
const altered = (key: string) => key.slice(0, 20) + (key[20] === 'a' ? 'b' : 'a') + key.slice(21);
const unauthorized = { error: { code: 'unauthorized', message: expect.any(String) } };

test('missing and malformed credentials get the answer of an unknown key', async () => {
  const valid = serviceKey();
  const asUnknown = await send('GET', '/v1/quotes', { key: unknownKey });
  expect(asUnknown).toMatchObject({ status: 401, body: unauthorized });
  expect(asUnknown.headers.get('www-authenticate')).toBe('Bearer');
  const variants: [string, Record<string, string>][] = [
    ['/v1/quotes', {}],
    ['/v1/quotes', { authorization: '' }],
    ['/v1/quotes', { authorization: 'Bearer' }],
    ['/v1/quotes', { authorization: valid }],
    ['/v1/quotes', { authorization: `Basic ${Buffer.from(`${valid}:`).toString('base64')}` }],
    ['/v1/quotes', { authorization: `Bearer ${altered(valid)}` }],
    ['/v1/quotes', { authorization: `Bearer ${valid}, Bearer ${valid}` }],
    ['/v1/quotes', { authorization: `Bearer ${valid} x` }],
    ['/v1/quotes', { authorization: `Bearer ${'a'.repeat(8000)}` }],
    ['/v1/quotes', { authorization: `Bearer ${valid.replace('vendor_test', 'vendor_live')}` }],
    ['/v1/quotes', { 'x-api-key': valid, cookie: `authorization=Bearer ${valid}` }],
    [`/v1/quotes?api_key=${valid}`, {}],
    [`/v1/quotes?authorization=Bearer%20${valid}`, {}],
  ];
  for (const [path, headers] of variants) {
    expect({ headers, reply: await send('GET', path, { headers }) }).toMatchObject({
      headers,
      reply: { status: 401, body: asUnknown.body },
    });
  }
  expect(services.calls).toEqual([]);
});

test('two Authorization headers are refused, although each is valid', async () => {
  const line = `authorization: Bearer ${serviceKey()}\r\n`;
  const request = (lines: string) =>
    `GET /v1/quotes HTTP/1.1\r\nhost: x\r\n${lines}connection: close\r\n\r\n`;
  expect(await sendRaw(gateway.port, request(line))).toMatch(/^HTTP\/1.1 200 /);
  expect(await sendRaw(gateway.port, request(line + line))).toMatch(/^HTTP\/1.1 400 /);
});

test('a refusal by shape takes at least as long as one after a query', async () => {
  for (const key of ['nonsense', altered(unknownKey), createKeyText('vendor_test_')]) {
    const startedAt = performance.now();
    await send('GET', '/v1/quotes', { key });
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(19);
  }
});

test('a key whose record has another kind than its text is refused', async () => {
  const key = services.addKey(createKeyText('vendor_test_'), newDelegateKey());
  expect((await send('GET', '/v1/settlements', { key })).status).toBe(401);
});

test('a deleted key is refused within 2 s', async () => {
  const key = serviceKey();
  expect((await send('GET', '/v1/quotes', { key })).status).toBe(200);
  services.keys.clear();
  const isRefused = async () => (await send('GET', '/v1/quotes', { key })).status === 401;
  await waitUntil(isRefused, { withinMs: 2000 });
});

test('forged, foreign, expired and revoked access tokens are refused', async () => {
  const b64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const valid = await accessToken();
  const [header, payload, signature] = valid.split('.') as [string, string, string];
  const parsed = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as Record<string, unknown>;
  const resigned = (claims: object, protectedHeader: object = {}, key = testSession.signing) =>
    new SignJWT({ ...parsed, ...claims })
      .setProtectedHeader({ alg: 'EdDSA', kid: key.kid, ...protectedHeader })
      .sign(key.key);
  const hs256 = `${b64({ alg: 'HS256', kid: 'test.session.1' })}.${payload}`;
  const hmac = (secret: string | Buffer) => createHmac('sha256', secret).update(hs256).digest('base64url');
  const stranger = newSigningKey('test.session.1').signing;
  const ownJwk = createPublicKey(stranger.key).export({ format: 'jwk' });
  const revoked = newId('ses');
  services.revokedSessions.add(revoked);

  const tokens = {
    'alg none': `${b64({ alg: 'none', kid: 'test.session.1' })}.${payload}.`,
    'alg none with the original signature': `${b64({ alg: 'none', kid: 'test.session.1' })}.${payload}.${signature}`,
    'HS256 with the public key': `${hs256}.${hmac(Buffer.from(testSession.x, 'base64url'))}`,
    'HS256 with the text of the public key': `${hs256}.${hmac(testSession.x)}`,
    'kid ../': await resigned({}, { kid: '../test.session.1' }),
    'kid unknown': await resigned({}, { kid: 'test.session.9' }),
    'kid of another use': await resigned({}, {}, testQuote.signing),
    'another key under the kid': await resigned({}, {}, stranger),
    'foreign issuer': await resigned({ iss: 'https://evil.example' }),
    'foreign audience': await resigned({ aud: 'other' }),
    'live claim signed by a test key': await accessToken({ environment: 'live' }),
    'test claim signed by a live key': await accessToken({}, liveSession.signing),
    expired: await accessToken({ now: Date.now() - 16 * 60_000 }),
    'payload altered': `${header}.${b64({ ...parsed, sub: newId('acct') })}.${signature}`,
    'no exp': await resigned({ exp: undefined }),
    'not valid yet': await resigned({ nbf: Math.floor(Date.now() / 1000) + 3600 }),
    'an embedded key in the header': await resigned({}, { kid: undefined, jwk: ownJwk }, stranger),
    'live kid, signed by a test key': await resigned({ env: 'live' }, { kid: 'live.session.1' }),
    'signature cut': `${header}.${payload}.${signature.slice(0, -2)}`,
    'signed out': await accessToken({ sessionId: revoked }),
  };
  expect((await send('GET', '/v1/services', { key: valid })).status).toBe(200);
  for (const [name, key] of Object.entries(tokens)) {
    const reply = await send('GET', '/v1/services', { key });
    expect({ name, status: reply.status, body: reply.body }).toEqual({
      name,
      status: 401,
      body: unauthorized,
    });
  }
});

test('the wrong kind of credential is forbidden before the body is read', async () => {
  const jwt = await accessToken();
  const [service, delegate] = [serviceKey(), delegateKey()];
  const [stl, wal] = [newId('stl'), newId('wal')];
  const cases: [string, string, string][] = [
    ['POST', '/v1/settle', service],
    ['POST', '/v1/quote', delegate],
    ['POST', '/v1/quote', jwt],
    ['GET', `/v1/quotes/${quoteId}`, delegate],
    ['POST', `/v1/settlements/${stl}/redeem`, jwt],
    ['POST', `/v1/settlements/${stl}/verify`, delegate],
    ['POST', '/v1/services', service],
    ['GET', '/v1/wallets', service],
    ['POST', '/v1/wallets', delegate],
    ['POST', `/v1/wallets/${wal}/revoke`, delegate],
  ];
  for (const [method, path, key] of cases) {
    const reply = await send(method, path, { key, ...(method === 'POST' ? { body: '{not json' } : {}) });
    expect([path, reply.status, reply.body.error?.code]).toEqual([path, 403, 'forbidden']);
  }
  const live = await accessToken({ environment: 'live' }, liveSession.signing);
  const fund = await send('POST', '/v1/dev/fund', { key: live, body: { wallet_id: wal, amount: '1' } });
  expect([fund.status, services.calls]).toEqual([403, []]);
});
