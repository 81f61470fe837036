import { createHmac, createPublicKey } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { SignJWT } from 'jose';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { signAccessToken } from '../../../shared/lib/access-token.ts';
import { newId } from '../../../shared/lib/id.ts';
import { createKeyText } from '../../../shared/lib/key-text.ts';
import {
  type Gateway,
  newDelegateKey,
  newServiceKey,
  newSigningKey,
  type Scene,
  type Services,
  sendRaw,
  startScene,
} from '../../../test/support/gateway.ts';

const testSession = newSigningKey('test.session.1');
const liveSession = newSigningKey('live.session.1');
const testQuote = newSigningKey('test.quote.1');
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
const retired = newSigningKey('test.quote.2', daysAgo(29));
const forgotten = newSigningKey('test.quote.3', daysAgo(31));
const publicKeys = [testSession, liveSession, testQuote, retired, forgotten].map(({ entry }) => entry);

let scene: Scene;
let services: Services;
let gateway: Gateway;

beforeAll(async () => {
  scene = await startScene({ publicKeys, limits: { scale: 100 } });
  ({ services, gateway } = scene);
}, 30_000);

afterAll(() => scene.stop(), 60_000);

beforeEach(() => {
  services.calls.length = 0;
});

type Reply = {
  status: number;
  headers: Headers;
  body: Record<string, never> & { error?: Record<string, unknown> };
};

const send = async (
  method: string,
  path: string,
  { key, body, headers = {} }: { key?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<Reply> => {
  const response = await fetch(gateway.url + path, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) };
};

const serviceKey = (env: 'test' | 'live' = 'test', principal = newServiceKey()) =>
  services.addKey(createKeyText(`vendor_${env}_`), principal);
const delegateKey = () => services.addKey(createKeyText('dk_test_'), newDelegateKey());
const accessToken = (
  changes: Partial<Parameters<typeof signAccessToken>[0]> = {},
  key = testSession.signing,
) =>
  signAccessToken(
    {
      accountId: newId('acct'),
      sessionId: newId('ses'),
      environment: 'test',
      amr: ['email'],
      authTime: Math.floor(Date.now() / 1000),
      now: Date.now(),
      ...changes,
    },
    key,
  );

const list = { data: [], next_cursor: null };
const quoteId = newId('q');

test('a call is forwarded with its caller, in the environment of its credential', async () => {
  services.answers['quote.list'] = () => list;
  const principal = newServiceKey();
  const reply = await send('GET', '/v1/quotes?limit=5', { key: serviceKey('live', principal) });
  expect([reply.status, reply.body]).toEqual([200, list]);
  expect(services.calls).toEqual([
    { environment: 'live', operation: 'quote.list', input: { limit: '5' }, caller: principal },
  ]);
  expect(Object.fromEntries(reply.headers)).toMatchObject({
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'content-type': 'application/json; charset=utf-8',
  });
});

test('an access token becomes a principal with the time of its sign-in', async () => {
  services.answers['identity.listServices'] = () => list;
  const [accountId, sessionId] = [newId('acct'), newId('ses')];
  const key = await accessToken({ accountId, sessionId, authTime: 1_700_000_000 });
  expect((await send('GET', '/v1/services', { key })).status).toBe(200);
  expect(services.calls[0]?.caller).toEqual({
    kind: 'jwt',
    account_id: accountId,
    session_id: sessionId,
    auth_time: 1_700_000_000,
  });
});

test('the environment of a call without credential: a field, the default, the prefix of a token', async () => {
  services.answers['identity.createAccount'] = () => ({ status: 'sent' });
  services.answers['identity.verifyMagicLink'] = () => {
    throw new ServiceError('unauthorized', 'used');
  };
  const statuses = [
    await send('POST', '/v1/accounts', { body: { email: 'a@example.com' } }),
    await send('POST', '/v1/accounts', { body: { email: 'a@example.com', environment: 'live' } }),
    await send('POST', '/v1/auth/magic-link/verify', { body: { token: 'ml_live_abc' } }),
    await send('POST', '/v1/accounts', { body: { email: 'a@example.com', environment: 'prod' } }),
    await send('POST', '/v1/auth/magic-link/verify', { body: { token: 'ml_prod_abc' } }),
  ].map(({ status }) => status);
  expect(statuses).toEqual([202, 202, 401, 400, 400]);
  expect(services.calls.map(({ environment }) => environment)).toEqual(['test', 'live', 'live']);
});

test('statuses and bodies of success: 202 with Retry-After, 204 without body, POST without body', async () => {
  const pending = { settlement_id: newId('stl'), status: 'pending', tx_hash: null };
  services.answers['settlement.settle'] = () => pending;
  services.answers['identity.logout'] = () => null;
  const settle = await send('POST', '/v1/settle', {
    key: delegateKey(),
    body: { quote_token: 'a.b', payment_attempt_id: 'p1' },
  });
  expect([settle.status, settle.headers.get('retry-after'), settle.body]).toEqual([202, '5', pending]);
  const logout = await send('POST', '/v1/auth/logout', { key: await accessToken() });
  expect([logout.status, logout.body, logout.headers.get('content-type')]).toEqual([204, {}, null]);
});

test('request ids: a well formed one is kept and travels, another is replaced', async () => {
  const kept = await send('GET', '/v1/health', { headers: { 'x-request-id': 'abc-123' } });
  expect(kept.headers.get('x-request-id')).toBe('abc-123');
  for (const bad of ['a b', 'x'.repeat(65), 'ä']) {
    const id = (await send('GET', '/v1/health', { headers: { 'x-request-id': bad } })).headers.get(
      'x-request-id',
    );
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
  }
});

// ---------- credentials ----------

const unknownKey = createKeyText('vendor_test_');
const altered = (key: string) => key.slice(0, 20) + (key[20] === 'a' ? 'b' : 'a') + key.slice(21);
const unauthorized = { error: { code: 'unauthorized', message: expect.any(String) } };

test('missing and bad credentials all get the answer of an unknown key', async () => {
  const good = serviceKey();
  const asUnknown = await send('GET', '/v1/quotes', { key: unknownKey });
  expect(asUnknown).toMatchObject({ status: 401, body: unauthorized });
  expect(asUnknown.headers.get('www-authenticate')).toBe('Bearer');
  const variants: [string, Record<string, string>][] = [
    ['/v1/quotes', {}],
    ['/v1/quotes', { authorization: '' }],
    ['/v1/quotes', { authorization: 'Bearer' }],
    ['/v1/quotes', { authorization: good }],
    ['/v1/quotes', { authorization: `Basic ${Buffer.from(`${good}:`).toString('base64')}` }],
    ['/v1/quotes', { authorization: `Bearer ${altered(good)}` }],
    ['/v1/quotes', { authorization: `Bearer ${good}, Bearer ${good}` }],
    ['/v1/quotes', { authorization: `Bearer ${good} x` }],
    ['/v1/quotes', { authorization: `Bearer ${'a'.repeat(8000)}` }],
    ['/v1/quotes', { authorization: `Bearer ${good.replace('vendor_test', 'vendor_live')}` }],
    ['/v1/quotes', { 'x-api-key': good, cookie: `authorization=Bearer ${good}` }],
    [`/v1/quotes?api_key=${good}`, {}],
    [`/v1/quotes?authorization=Bearer%20${good}`, {}],
  ];
  for (const [path, headers] of variants) {
    expect({ headers, reply: await send('GET', path, { headers }) }).toMatchObject({
      headers,
      reply: { status: 401, body: asUnknown.body },
    });
  }
  expect(services.calls).toEqual([]);
});

test('two Authorization headers are refused although each is good', async () => {
  const line = `authorization: Bearer ${serviceKey()}\r\n`;
  const request = (lines: string) =>
    `GET /v1/quotes HTTP/1.1\r\nhost: x\r\n${lines}connection: close\r\n\r\n`;
  expect(await sendRaw(gateway.port, request(line))).toMatch(/^HTTP\/1.1 200 /);
  expect(await sendRaw(gateway.port, request(line + line))).toMatch(/^HTTP\/1.1 400 /);
});

test('a refusal by shape comes no sooner than one after a look-up', async () => {
  for (const key of ['nonsense', altered(unknownKey), createKeyText('vendor_test_')]) {
    const startedAt = performance.now();
    await send('GET', '/v1/quotes', { key });
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(19);
  }
});

test('a key whose record is of another kind than its text says', async () => {
  const key = services.addKey(createKeyText('vendor_test_'), newDelegateKey());
  expect((await send('GET', '/v1/settlements', { key })).status).toBe(401);
});

test('a key that ends is refused within 2 s', async () => {
  services.answers['quote.list'] = () => list;
  const key = serviceKey();
  expect((await send('GET', '/v1/quotes', { key })).status).toBe(200);
  services.keys.clear();
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect((await send('GET', '/v1/quotes', { key })).status).toBe(401);
});

test('forged, foreign, expired and ended access tokens', async () => {
  services.answers['identity.listServices'] = () => list;
  const b64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const good = await accessToken();
  const [header, payload, signature] = good.split('.') as [string, string, string];
  const parsed = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as Record<string, unknown>;
  const resigned = (claims: object, protectedHeader: object = {}, key = testSession.signing) =>
    new SignJWT({ ...parsed, ...claims })
      .setProtectedHeader({ alg: 'EdDSA', kid: key.kid, ...protectedHeader })
      .sign(key.key);
  const hs256 = `${b64({ alg: 'HS256', kid: 'test.session.1' })}.${payload}`;
  const hmac = (secret: string | Buffer) => createHmac('sha256', secret).update(hs256).digest('base64url');
  const stranger = newSigningKey('test.session.1').signing;
  const ownJwk = createPublicKey(stranger.key).export({ format: 'jwk' });
  const ended = newId('ses');
  services.closedSessions.add(ended);

  const tokens = {
    'alg none': `${b64({ alg: 'none', kid: 'test.session.1' })}.${payload}.`,
    'alg none, signature kept': `${b64({ alg: 'none', kid: 'test.session.1' })}.${payload}.${signature}`,
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
    'a key of its own in the header': await resigned({}, { kid: undefined, jwk: ownJwk }, stranger),
    'live kid, signed by a test key': await resigned({ env: 'live' }, { kid: 'live.session.1' }),
    'signature cut': `${header}.${payload}.${signature.slice(0, -2)}`,
    'signed out': await accessToken({ sessionId: ended }),
  };
  expect((await send('GET', '/v1/services', { key: good })).status).toBe(200);
  for (const [name, key] of Object.entries(tokens)) {
    const reply = await send('GET', '/v1/services', { key });
    expect({ name, status: reply.status, body: reply.body }).toEqual({
      name,
      status: 401,
      body: unauthorized,
    });
  }
});

test('the wrong kind of credential is forbidden, before anything of the body is looked at', async () => {
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

// ---------- errors ----------

test('nothing of the inside is told, whatever fails', async () => {
  delete services.answers['quote.list'];
  const reply = await send('GET', '/v1/quotes', { key: serviceKey() });
  expect(reply.status).toBe(500);
  expect(reply.body).toEqual({ error: { code: 'internal_error', message: expect.any(String) } });
  expect(JSON.stringify(reply.body)).not.toContain('secret inside');
});

// ---------- what the gateway answers itself ----------

test('health, readiness, keys and pages', async () => {
  expect((await send('GET', '/v1/health')).body).toMatchObject({ status: 'ok' });
  const services = ['quote', 'settlement', 'wallet', 'funding', 'identity', 'webhook'];
  const up = Object.fromEntries(['nats', ...services].map((name) => [name, 'up']));
  expect((await send('GET', '/v1/health/ready')).body).toEqual({
    status: 'ready',
    environments: { test: up, live: up },
  });

  const kids = async (query: string) =>
    ((await send('GET', `/.well-known/jwks.json${query}`)).body as { keys?: { kid: string }[] }).keys?.map(
      ({ kid }) => kid,
    );
  const published = ['test.session.1', 'live.session.1', 'test.quote.1', 'test.quote.2'];
  expect(await kids('')).toEqual(published);
  expect(await kids('?environment=live')).toEqual(['live.session.1']);
  expect(await kids('?all=true')).toEqual([...published, 'test.quote.3']);
  expect((await send('GET', '/.well-known/jwks.json?environment=prod')).status).toBe(400);
  expect((await send('GET', '/.well-known/jwks.json?x=1')).status).toBe(400);

  for (const name of ['/console', '/console/sign-in/link', '/docs']) {
    const page = await fetch(gateway.url + name);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'; /);
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    // The policy allows no inline script or style, so there must be none.
    expect(await page.text()).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=/);
  }
  for (const asset of ['/llms.txt', '/openapi.json', '/']) {
    expect([asset, (await fetch(gateway.url + asset)).status]).toEqual([asset, 200]);
  }
});

test('no credential, token or mail address stands in the log', async () => {
  const [key, jwt] = [serviceKey(), await accessToken()];
  await send('GET', `/v1/quotes?api_key=${key}`, { key });
  await send('GET', '/v1/services?token=ml_test_secret', { key: jwt });
  await send('POST', '/v1/auth/magic-link/verify', { body: { token: 'ml_test_secret' } });
  await send('POST', '/v1/accounts', { body: { email: 'ada.secret@example.com' } });
  const log = gateway.log();
  expect(log).toContain('/v1/auth/magic-link/verify');
  for (const secret of [key, jwt, jwt.split('.')[2]!, 'ml_test_secret', 'ada.secret'])
    expect(log).not.toContain(secret);
});
