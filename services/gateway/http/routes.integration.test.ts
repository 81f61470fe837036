import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { noteIds } from '../../../shared/bus/trace.ts';
import { ERRORS, ServiceError } from '../../../shared/contract/errors.ts';
import { newId } from '../../../shared/lib/id.ts';
import { waitFor } from '../../../test/support/base/wait.ts';
import {
  type Gateway,
  type GatewayFixture,
  newServiceKey,
  newSigningKey,
  type Services,
  startGatewayFixture,
} from '../../../test/support/fixtures/gateway.ts';
import { gatewayCallers } from '../../../test/support/fixtures/gateway-callers.ts';

const testSession = newSigningKey('test.session.1');
const liveSession = newSigningKey('live.session.1');
const testQuote = newSigningKey('test.quote.1');
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
const retired = newSigningKey('test.quote.2', daysAgo(29));
const unpublished = newSigningKey('test.quote.3', daysAgo(31));
const publicKeys = [testSession, liveSession, testQuote, retired, unpublished].map(({ entry }) => entry);

const list = { data: [], next_cursor: null };
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

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

test('a call is forwarded with its caller to the environment of its credential', async () => {
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

test('the environment of a call without credential is a field, the default, or the prefix of its token', async () => {
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

test('success: 202 has Retry-After, 204 has no body, and a POST may have no body', async () => {
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

test('a well-formed request id is used, and a malformed one is replaced', async () => {
  const wellFormed = await send('GET', '/v1/health', { headers: { 'x-request-id': 'abc-123' } });
  expect(wellFormed.headers.get('x-request-id')).toBe('abc-123');
  for (const bad of ['a b', 'x'.repeat(65), 'ä']) {
    const id = (await send('GET', '/v1/health', { headers: { 'x-request-id': bad } })).headers.get(
      'x-request-id',
    );
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
  }
});

// ---------- errors ----------

test('the answer to an unexpected error contains no internal detail', async () => {
  delete services.answers['quote.list'];
  const reply = await send('GET', '/v1/quotes', { key: serviceKey() });
  expect(reply.status).toBe(500);
  expect(reply.body).toEqual({
    error: {
      code: 'internal_error',
      message: expect.any(String),
      request_id: reply.headers.get('x-request-id'),
      docs_url: `${gateway.url}/docs/errors#internal_error`,
    },
  });
  expect(JSON.stringify(reply.body)).not.toContain('secret inside');
});

test('a caller who asks for a problem gets one, whatever refuses the call, and x402 keeps its form', async () => {
  const asking = { headers: { accept: 'application/problem+json' } };
  const unknown = await send('GET', '/v1/nothing', asking);
  expect([unknown.status, unknown.headers.get('content-type')]).toEqual([
    404,
    'application/problem+json; charset=utf-8',
  ]);
  expect(unknown.body).toMatchObject({
    type: `${gateway.url}/docs/errors#not_found`,
    status: 404,
    error: { code: 'not_found', request_id: unknown.headers.get('x-request-id') },
  });
  const refused = await send('GET', '/v1/quotes', asking);
  expect([refused.status, refused.body]).toMatchObject([
    401,
    { status: 401, error: { code: 'unauthorized' } },
  ]);
  const verify = await send('POST', '/v1/x402/verify', { ...asking, key: serviceKey(), body: {} });
  expect([verify.status, verify.headers.get('content-type'), verify.body]).toMatchObject([
    400,
    'application/json; charset=utf-8',
    { isValid: false, error: { code: 'validation_error' } },
  ]);
});

// ---------- answers of the gateway itself ----------

test('the gateway answers health, readiness, keys and pages', async () => {
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
  const { keys } = (await send('GET', '/.well-known/jwks.json')).body as unknown as {
    keys: Record<string, unknown>[];
  };
  expect(keys.at(-2)).toEqual(expect.not.objectContaining({ retired_at: expect.anything() }));
  expect(keys.at(-1)).toMatchObject(retired.entry);
  expect((await send('GET', '/.well-known/jwks.json?environment=prod')).status).toBe(400);
  expect((await send('GET', '/.well-known/jwks.json?x=1')).status).toBe(400);

  for (const name of ['/', '/console', '/console/sign-in/link', '/docs', '/docs/errors']) {
    const page = await fetch(gateway.url + name, { headers: { accept: BROWSER } });
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'; /);
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    // The policy allows no inline script or style, so the page must have none.
    expect(await page.text()).not.toMatch(/<script(?![^>]*\ssrc=)|<style|<[^>]*\s(style|on\w+)="/);
  }
  for (const asset of ['/llms.txt', '/openapi.json', '/', '/favicon.svg']) {
    expect([asset, (await fetch(gateway.url + asset)).status]).toEqual([asset, 200]);
  }
});

test('/ is a page for browsers, and links for programs', async () => {
  const get = (accept: string) => fetch(gateway.url, { headers: { accept } });
  const page = await get(BROWSER);
  expect([page.headers.get('vary'), page.headers.get('cache-control')]).toEqual([
    'accept, accept-encoding',
    'no-cache',
  ]);
  const html = await page.text();
  const links = [...html.matchAll(/href="(\/[^"#]*)/g)].map(([, link]) => link!);
  expect(links).toEqual(expect.arrayContaining(['/docs', '/docs/errors', '/console', '/v1/health/ready']));
  for (const link of new Set(links))
    expect([link, (await fetch(gateway.url + link)).status]).toEqual([link, 200]);
  expect(html).toContain(gateway.url);
  for (const accept of ['*/*', 'application/json']) {
    const program = await get(accept);
    expect(program.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await program.json()).toMatchObject({ name: 'Quittance', errors: `${gateway.url}/docs/errors` });
  }
});

test('the page about errors has an anchor for every code, and docs_url of an error leads there', async () => {
  const html = await (await fetch(`${gateway.url}/docs/errors`)).text();
  const anchors = [...html.matchAll(/<h2 id="(\w+)">/g)].map(([, code]) => code!);
  expect([anchors.length, new Set(anchors)]).toEqual([
    Object.keys(ERRORS).length,
    new Set(Object.keys(ERRORS)),
  ]);
  const { docs_url } = (await send('GET', '/v1/nothing')).body.error as { docs_url: string };
  const { pathname, hash } = new URL(docs_url);
  expect([(await fetch(docs_url)).status, pathname, hash]).toEqual([200, '/docs/errors', '#not_found']);
});

test('a call has one line with its ids, also if its caller has gone before the answer', async () => {
  const aborting = new AbortController();
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  services.answers['quote.list'] = async () => {
    noteIds({ quote_id: 'q_noted' });
    aborting.abort();
    await held;
    return list;
  };
  const headers = { authorization: `Bearer ${serviceKey()}`, 'x-request-id': 'gone' };
  const asked = fetch(`${gateway.url}/v1/quotes`, { headers, signal: aborting.signal });
  await expect(asked).rejects.toThrow('aborted');
  release();
  const line = await waitFor(
    () =>
      gateway
        .log()
        .split('\n')
        .filter((each) => each.includes('"gone"')),
    (lines) => lines.length > 0,
  );
  expect(line.map((each) => JSON.parse(each))).toEqual([
    expect.objectContaining({
      msg: 'request',
      operation: 'quote.list',
      aborted: true,
      quote_id: 'q_noted',
      credential: 'service_key',
    }),
  ]);
});

test('the log contains no credential, token or mail address', async () => {
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
