import { createHmac, createPublicKey } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { SignJWT } from 'jose';
import { newId } from '../../../shared/lib/id.ts';
import { createKeyText, keyHash } from '../../../shared/lib/tokens/key-text.ts';
import { waitUntil } from '../../../test/support/base/wait.ts';
import {
  type Gateway,
  type GatewayFixture,
  newDelegateKey,
  newSigningKey,
  type Services,
  sendRaw,
  startGatewayFixture,
} from '../../../test/support/fixtures/gateway.ts';
import { gatewayCallers } from '../../../test/support/fixtures/gateway-callers.ts';

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
});

afterAll(() => fixture.stop());

beforeEach(() => {
  services.calls.length = 0;
  services.answers['quote.list'] = () => list;
  services.answers['identity.listServices'] = () => list;
});

const { send, serviceKey, delegateKey, accessToken } = gatewayCallers(() => fixture, testSession);

const quoteId = newId('q');

const unknownKey = createKeyText('vendor_test_');
const altered = (key: string) => key.slice(0, 20) + (key[20] === 'a' ? 'b' : 'a') + key.slice(21);
const unauthorized = { error: { code: 'unauthorized' } };

test('a missing, malformed, mistyped and unknown credential have different messages, without its text', async () => {
  const valid = serviceKey();
  const variants: [string, Record<string, string>, RegExp][] = [
    ['/v1/quotes', { authorization: `Bearer ${unknownKey}` }, /^the environment test has no such key; /],
    ['/v1/quotes', {}, /^the header Authorization is missing; /],
    ['/v1/quotes', { authorization: '' }, /^the header Authorization is missing; /],
    ['/v1/quotes', { authorization: 'Bearer' }, /^the header Authorization has no credential after Bearer; /],
    ['/v1/quotes', { authorization: valid }, /^the word Bearer before the credential is missing; /],
    [
      '/v1/quotes',
      { authorization: `Basic ${Buffer.from(`${valid}:`).toString('base64')}` },
      /^the header Authorization has the scheme Basic; /,
    ],
    ['/v1/quotes', { authorization: `Bearer ${altered(valid)}` }, /^the key is mistyped or incomplete: /],
    ['/v1/quotes', { authorization: `Bearer ${valid}, Bearer ${valid}` }, /several words after Bearer; /],
    ['/v1/quotes', { authorization: `Bearer ${valid} x` }, /several words after Bearer; /],
    ['/v1/quotes', { authorization: `Bearer ${'a'.repeat(8000)}` }, /longer than 4096 characters; /],
    [
      '/v1/quotes',
      { authorization: `Bearer ${valid.replace('vendor_test', 'vendor_live')}` },
      /^the key is mistyped or incomplete: /,
    ],
    [
      '/v1/quotes',
      { 'x-api-key': valid, cookie: `authorization=Bearer ${valid}` },
      /^the header Authorization is missing; /,
    ],
    [`/v1/quotes?api_key=${valid}`, {}, /^the header Authorization is missing; /],
    [`/v1/quotes?authorization=Bearer%20${valid}`, {}, /^the header Authorization is missing; /],
  ];
  for (const [path, headers, message] of variants) {
    const reply = await send('GET', path, { headers });
    expect({ headers, reply }).toMatchObject({ headers, reply: { status: 401, body: unauthorized } });
    expect(reply.body.error?.message).toMatch(message);
    expect(reply.headers.get('www-authenticate')).toBe('Bearer');
    expect(JSON.stringify(reply.body)).not.toContain(valid.slice(0, 30));
  }
  expect(services.calls).toEqual([]);
});

test('the holder of a key that was revoked, or whose delegate ended, gets the reason and its time', async () => {
  const since = '2026-11-20T10:00:00.000Z';
  for (const [refused, message] of [
    ['revoked', `the key was revoked or replaced at ${since}; use the current key`],
    ['delegate_deleted', `the delegate of the key was deleted at ${since}; use the key of another delegate`],
    ['delegate_expired', `the delegate of the key expired at ${since}; use the key of another delegate`],
  ] as const) {
    const key = createKeyText('dk_test_');
    services.refusedKeys.set(keyHash(key), { refused, since });
    const { status, body } = await send('GET', '/v1/delegates/me', { key });
    expect([status, body.error?.message]).toEqual([401, message]);
    // With one altered character it is a mistyped key: the record is found by the whole text.
    const guess = await send('GET', '/v1/delegates/me', { key: altered(key) });
    expect(guess.body.error?.message).toMatch(/^the key is mistyped/);
  }
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
  const expiredAt = Math.floor(Date.now() / 1000) * 1000 - 60_000;

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
    expired: await accessToken({ now: expiredAt - 15 * 60_000 }),
    'payload altered': `${header}.${b64({ ...parsed, sub: newId('acct') })}.${signature}`,
    'no exp': await resigned({ exp: undefined }),
    'not valid yet': await resigned({ nbf: Math.floor(Date.now() / 1000) + 3600 }),
    'an embedded key in the header': await resigned({}, { kid: undefined, jwk: ownJwk }, stranger),
    'live kid, signed by a test key': await resigned({ env: 'live' }, { kid: 'live.session.1' }),
    'signature cut': `${header}.${payload}.${signature.slice(0, -2)}`,
    'signed out': await accessToken({ sessionId: revoked }),
  };
  const MESSAGES: Record<string, string> = {
    expired: `the access token expired at ${new Date(expiredAt).toISOString()}; get a new one with POST /v1/auth/refresh, or sign in again`,
    'signed out': 'the sign-in of the access token has ended; sign in again',
  };
  expect((await send('GET', '/v1/services', { key: valid })).status).toBe(200);
  for (const [name, key] of Object.entries(tokens)) {
    const reply = await send('GET', '/v1/services', { key });
    expect({ name, status: reply.status, message: reply.body.error?.message }).toEqual({
      name,
      status: 401,
      message:
        MESSAGES[name] ?? 'the access token is not signed by this service, or it was changed; sign in again',
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
