import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../../shared/lib/id.ts';
import { signAccessToken } from '../../../shared/lib/tokens/access-token.ts';
import { createKeyText } from '../../../shared/lib/tokens/key-text.ts';
import { waitUntil } from '../../../test/support/base/wait.ts';
import {
  type Gateway,
  newDelegateKey,
  newServiceKey,
  newSigningKey,
  type Servers,
  type Services,
  startGateway,
  startServers,
  startServices,
} from '../../../test/support/fixtures/gateway.ts';
import { type Link, startLink } from '../../../test/support/servers/link.ts';

/** Limits while Redis is unavailable or hangs. */

const session = newSigningKey('test.session.1');
/** Longer than any test, so that no point becomes free on a slow machine. */
const WINDOW_SECONDS = 600;
const POINTS = 10;

let servers: Servers;
let services: Services;
let gateway: Gateway;
let redis: Link;

beforeAll(async () => {
  servers = await startServers();
  services = await startServices(servers);
  redis = await startLink(servers.redisPort);
  const perAccount = (points: number) => [{ points, windowSeconds: WINDOW_SECONDS, per: 'account' }];
  gateway = await startGateway(
    { natsPort: { test: servers.natsPort, live: servers.natsPort }, redisPort: redis.port },
    {
      publicKeys: [session.entry],
      limits: {
        operations: {
          'quote.list': perAccount(POINTS),
          'quote.create': perAccount(30),
          'settlement.settle': perAccount(20),
          'settlement.redeem': perAccount(30),
        },
      },
    },
  );
  services.answers['quote.list'] = () => ({ data: [], next_cursor: null });
  services.answers['identity.requestMagicLink'] = () => ({ status: 'sent' });
});

afterAll(async () => {
  await gateway.stop();
  await redis.stop();
  await services.stop();
  await servers.stop();
});

type Options = { key?: string; body?: unknown; from?: string };

const send = async (method: string, path: string, { key, body, from = '203.0.113.1' }: Options = {}) => {
  const startedAt = performance.now();
  const response = await fetch(gateway.url + path, {
    method,
    headers: {
      'x-forwarded-for': from,
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const { error } = (await response.json()) as { error?: { code: string } };
  return {
    status: response.status,
    code: error?.code,
    retryAfter: response.headers.get('retry-after'),
    quota: response.headers.get('ratelimit'),
    ms: performance.now() - startedAt,
  };
};
const times = <T>(n: number, work: () => Promise<T>) => Promise.all(Array.from({ length: n }, work));
const passed = (replies: { status: number }[]) => replies.filter(({ status }) => status !== 429).length;
const serviceKey = () => services.addKey(createKeyText('vendor_test_'), newServiceKey());
const delegateKey = () => services.addKey(createKeyText('dk_test_'), newDelegateKey());
const accessToken = () =>
  signAccessToken(
    {
      ...{ accountId: newId('acct'), sessionId: newId('ses'), environment: 'test', amr: ['email'] },
      ...{ authTime: Math.floor(Date.now() / 1000), now: Date.now() },
    },
    session.signing,
  );
/** A mail address that no other test uses. */
const mailbox = () => `${newId('acct')}@example.com`;

/** Seconds until the oldest point of a long window is free, at most 50 s after it was consumed. */
const RESET = /^(600|5[5-9]\d)$/;
const accountQuota = (remaining: number) =>
  expect.stringMatching(new RegExp(`^"account";r=${remaining};t=(600|5[5-9]\\d)$`));

const timesUnavailable = () => gateway.log().split('redis unavailable').length - 1;
const cutRedis = async () => {
  const before = timesUnavailable();
  redis.set('cut');
  await waitUntil(() => timesUnavailable() > before);
};
/** Restores Redis and waits until the gateway uses it again. */
const reopenRedis = async () => {
  redis.set('open');
  const mail = () => send('POST', '/v1/auth/magic-link', { body: { email: mailbox() }, from: '192.0.2.2' });
  await waitUntil(async () => (await mail()).status !== 503, { everyMs: 100 });
};

test('while Redis is unavailable calls continue within the same points, sign-in mail is refused, and both recover', async () => {
  await cutRedis();
  const key = serviceKey();
  expect(passed(await times(3 * POINTS, () => send('GET', '/v1/quotes', { key })))).toBe(POINTS);
  const limited = await send('GET', '/v1/quotes', { key });
  expect(limited).toMatchObject({
    status: 429,
    retryAfter: expect.stringMatching(RESET),
    quota: accountQuota(0),
  });

  const mail = () => send('POST', '/v1/auth/magic-link', { body: { email: mailbox() }, from: '192.0.2.1' });
  expect(await mail()).toMatchObject({ status: 503, code: 'service_unavailable', retryAfter: '5' });
  expect((await fetch(`${gateway.url}/v1/health/ready`)).status).toBe(200);

  await reopenRedis();
  expect((await mail()).status).toBe(202);
});

test('while Redis restarts, sign-in mail waits for it and passes', async () => {
  await cutRedis();
  const waiting = send('POST', '/v1/auth/magic-link', { body: { email: mailbox() }, from: '192.0.2.5' });
  // The in-process limit of this call shows that the gateway counts without Redis meanwhile.
  expect((await send('GET', '/v1/quotes', { key: serviceKey() })).status).toBe(200);
  redis.set('open');
  expect((await waiting).status).toBe(202);
});

describe('while Redis is unavailable', () => {
  beforeAll(cutRedis);
  afterAll(reopenRedis);

  // No call is valid. A call with an in-memory limit gets 400. One that requires Redis gets 503
  // before validation.
  test.each([
    ['POST /v1/settle', 20, 'delegate'],
    ['POST /v1/quote', 30, 'service'],
    ['POST /v1/settlements/x/redeem', 30, 'service'],
  ] as const)('%s continues within its points', async (call, points, kind) => {
    const key = kind === 'delegate' ? delegateKey() : serviceKey();
    const [method, path] = call.split(' ') as [string, string];
    const replies = await times(points + 5, () => send(method, path, { key, body: {} }));
    expect(replies.map(({ status }) => status).sort()).toEqual([
      ...Array(points).fill(400),
      ...Array(5).fill(429),
    ]);
  });

  test.each([
    'POST /v1/accounts',
    'POST /v1/auth/magic-link',
    'POST /v1/services/x/key/reveal',
    'POST /v1/services/x/key/rotate',
    'POST /v1/delegates/x/key/reveal',
    'POST /v1/delegates/x/key/rotate',
    'POST /v1/services/x/key/reveal/verify',
    'POST /v1/delegates/x/key/reveal/verify',
    'POST /v1/dev/fund',
    'POST /v1/wallets/provision',
  ])('%s is refused and reaches no service', async (call) => {
    const key = await accessToken();
    const [method, path] = call.split(' ') as [string, string];
    services.calls.length = 0;
    const body = { email: mailbox() };
    expect(await send(method, path, { key, body, from: '192.0.2.3' })).toMatchObject({
      status: 503,
      code: 'service_unavailable',
      retryAfter: '5',
    });
    expect(services.calls).toEqual([]);
  });
});

test('while Redis hangs, only the first call of a second waits for it', async () => {
  redis.set('silent');
  const key = serviceKey();
  const first = await send('GET', '/v1/quotes', { key });
  expect(first.status).toBe(200);
  expect(first.ms).toBeGreaterThan(400);
  // On a busy machine a call may begin after that second, and waits like the first one.
  await waitUntil(async () => {
    const before = redis.swallowed();
    expect((await send('GET', '/v1/quotes', { key })).status).toBe(200);
    return redis.swallowed() === before;
  });
  const mail = await send('POST', '/v1/auth/magic-link', { body: { email: mailbox() }, from: '192.0.2.4' });
  redis.set('open');
  expect(mail.status).toBe(503);
});
