import { domainToASCII } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Principal } from '../../../shared/contract/principal.ts';
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
  sendRaw,
  startGateway,
  startServers,
  startServices,
} from '../../../test/support/fixtures/gateway.ts';

const session = newSigningKey('test.session.1');
const raisedAccount = newId('acct');
/** Longer than any test, so that no point becomes free on a slow machine. */
const WINDOW_SECONDS = 600;
/** For the tests that wait for the end of a window. */
const SHORT_WINDOW_SECONDS = 5;
const POINTS = 10;

let servers: Servers;
let services: Services;
let gateway: Gateway;

beforeAll(async () => {
  servers = await startServers();
  services = await startServices(servers);
  const perAccount = { points: POINTS, windowSeconds: WINDOW_SECONDS, per: 'account' };
  gateway = await startGateway(
    { natsPort: { test: servers.natsPort, live: servers.natsPort }, redisPort: servers.redisPort },
    {
      publicKeys: [session.entry],
      limits: {
        operations: {
          'quote.list': [perAccount],
          'funding.listRefunds': [{ ...perAccount, windowSeconds: SHORT_WINDOW_SECONDS }],
          'settlement.list': [perAccount],
          'quote.create': [{ ...perAccount, points: 30 }],
          'quote.get': [
            { ...perAccount, points: 3 },
            { points: 100, windowSeconds: WINDOW_SECONDS, per: 'ip' },
          ],
        },
      },
    },
  );
  services.limitFactors.set(raisedAccount, 2);
  services.answers['quote.list'] = () => ({ data: [], next_cursor: null });
  services.answers['funding.listRefunds'] = () => ({ data: [], next_cursor: null });
  services.answers['settlement.list'] = () => ({ data: [], next_cursor: null });
  services.answers['identity.requestMagicLink'] = () => ({ status: 'sent' });
});

afterAll(async () => {
  await gateway.stop();
  await services.stop();
  await servers.stop();
});

type Options = { key?: string; body?: unknown; from?: string };

const send = async (method: string, path: string, { key, body, from = '203.0.113.1' }: Options = {}) => {
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
    policy: response.headers.get('ratelimit-policy'),
    quota: response.headers.get('ratelimit'),
  };
};
const times = <T>(n: number, work: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: n }, (_, i) => work(i)));
const passed = (replies: { status: number }[]) => replies.filter(({ status }) => status !== 429).length;

const keyOf = (principal: Principal, env: 'test' | 'live' = 'test') =>
  services.addKey(createKeyText(`${principal.kind === 'delegate_key' ? 'dk' : 'vendor'}_${env}_`), principal);
const tokenOf = (accountId: string) =>
  signAccessToken(
    {
      accountId,
      sessionId: newId('ses'),
      environment: 'test',
      amr: ['email'],
      authTime: Math.floor(Date.now() / 1000),
      now: Date.now(),
    },
    session.signing,
  );
/** A mail address that no other test uses. */
const mailbox = () => `${newId('acct')}@example.com`;

/** Up to 50 s may have passed since the oldest point was consumed. */
const accountQuota = (remaining: number) =>
  expect.stringMatching(new RegExp(`^"account";r=${remaining};t=(600|5[5-9]\\d)$`));

test('a burst across the edge of a window gets no more than the points in any window', async () => {
  const key = keyOf(newServiceKey());
  const list = () => send('GET', '/v1/refunds', { key });
  const startedAt = performance.now();
  const isPast = (ms: number) => () => performance.now() - startedAt >= ms;
  expect((await list()).status).toBe(200);
  await waitUntil(isPast(SHORT_WINDOW_SECONDS * 1000 - 250));
  expect(passed(await times(POINTS - 1, list))).toBe(POINTS - 1);
  await waitUntil(isPast(SHORT_WINDOW_SECONDS * 1000 + 50));
  // Just past the edge: a fixed window would allow ten more, the sliding one has one free point at
  // most.
  expect(passed(await times(POINTS, list))).toBeLessThanOrEqual(1);
});

test('of 200 concurrent calls exactly the points pass', async () => {
  const key = keyOf(newServiceKey());
  const replies = await times(200, () => send('GET', '/v1/quotes', { key }));
  expect(passed(replies)).toBe(POINTS);
  // Calls that share a command report what is left after each of them.
  const left = replies
    .filter(({ status }) => status === 200)
    .map(({ quota }) => Number(/r=(\d+)/.exec(quota!)![1]));
  expect(left.sort((a, b) => b - a)).toEqual(Array.from({ length: POINTS }, (_, used) => POINTS - 1 - used));
});

test('Retry-After is exact: calls are refused before it and pass after it', async () => {
  const key = keyOf(newServiceKey());
  const list = () => send('GET', '/v1/refunds', { key });
  expect(passed(await times(POINTS, list))).toBe(POINTS);
  const refused = await list();
  expect(refused).toMatchObject({ status: 429, code: 'rate_limited' });
  // Whole seconds, rounded up. The rest of the window depends on the duration of the calls.
  const seconds = Number((refused as { retryAfter: string }).retryAfter);
  expect(seconds).toBeGreaterThanOrEqual(1);
  expect(seconds).toBeLessThanOrEqual(SHORT_WINDOW_SECONDS);
  const freeAt = performance.now() + seconds * 1000 + 20;
  await waitUntil(() => performance.now() >= freeAt);
  expect((await list()).status).toBe(200);
});

test('RateLimit and RateLimit-Policy report the quotas of the caller on answers of every kind', async () => {
  const key = keyOf(newServiceKey());
  const policy = `"account";q=${POINTS};w=${WINDOW_SECONDS}`;
  const quotaOf = (remaining: number) => ({ policy, quota: accountQuota(remaining) });
  expect(await send('GET', '/v1/quotes', { key })).toMatchObject({ status: 200, ...quotaOf(POINTS - 1) });
  expect(await send('GET', '/v1/quotes?limit=0', { key })).toMatchObject({
    status: 400,
    ...quotaOf(POINTS - 2),
  });
  await times(POINTS - 2, () => send('GET', '/v1/quotes', { key }));
  expect(await send('GET', '/v1/quotes', { key })).toMatchObject({ status: 429, ...quotaOf(0) });
  // Two limits. The limit of the mailbox is not reported, because a stranger must not learn its
  // use.
  const both = await send('GET', `/v1/quotes/${newId('q')}`, { key });
  expect(both.policy).toBe(`"account";q=3;w=${WINDOW_SECONDS}, "address";q=100;w=${WINDOW_SECONDS}`);
  const mail = await send('POST', '/v1/auth/magic-link', { body: { email: mailbox() }, from: '192.0.2.77' });
  expect(mail).toMatchObject({
    status: 202,
    policy: '"address";q=30;w=600',
    quota: expect.stringMatching(/^"address";r=29;t=(600|5[5-9]\d)$/),
  });
  // An operation that the gateway answers itself.
  const health = await send('GET', '/v1/health', { from: '192.0.2.78' });
  expect(health).toMatchObject({ policy: '"address";q=1200;w=60', quota: '"address";r=1199;t=60' });
});

test('all credentials and addresses of an account share one window', async () => {
  const account = newId('acct');
  const credentials = [
    ...(await times(4, async () => keyOf(newServiceKey(account)))),
    ...(await times(4, async () => keyOf(newDelegateKey(account)))),
    ...(await times(4, () => tokenOf(account))),
  ];
  const replies = await times(48, (i) =>
    send('GET', '/v1/settlements', { key: credentials[i % 12]!, from: `203.0.113.${i}` }),
  );
  expect(passed(replies)).toBe(POINTS);
  const other = keyOf(newServiceKey());
  expect((await send('GET', '/v1/settlements', { key: other })).status).toBe(200);
});

test('an account has separate windows per environment and per operation', async () => {
  const account = newId('acct');
  const [test, live] = [keyOf(newServiceKey(account)), keyOf(newServiceKey(account), 'live')];
  expect(passed(await times(POINTS + 1, () => send('GET', '/v1/quotes', { key: test })))).toBe(POINTS);
  expect((await send('GET', '/v1/quotes', { key: live })).status).toBe(200);
  expect((await send('GET', '/v1/settlements', { key: test })).status).toBe(200);
});

test('calls that validation refuses count, and malformed ones too', async () => {
  const key = keyOf(newServiceKey());
  const bad = await times(POINTS, () => send('GET', '/v1/quotes?limit=0', { key }));
  expect(bad.every(({ status }) => status === 400)).toBe(true);
  expect((await send('GET', '/v1/quotes', { key })).status).toBe(429);
  const vendor = keyOf(newServiceKey());
  const malformed = await fetchMalformed(vendor, 30);
  expect(malformed).toEqual(Array(30).fill(400));
  expect((await send('POST', '/v1/quote', { key: vendor, body: {} })).status).toBe(429);
});

const fetchMalformed = (key: string, n: number) =>
  times(n, async () => {
    const response = await fetch(`${gateway.url}/v1/quote`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{',
    });
    return response.status;
  });

test.each<[string, number, { type?: string; encoding?: string; body?: string; payer?: true }]>([
  ['another kind of credential', 403, { payer: true }],
  ['another content type', 415, { type: 'text/plain', body: '{}' }],
  ['a compressed body', 415, { encoding: 'gzip' }],
  ['a body that is too large', 413, { body: `"${'a'.repeat(100_000)}"` }],
  ['a body that is too large, without Content-Length', 413, { body: `"${'b'.repeat(100_000)}"` }],
])(
  'failed calls count: %s',
  async (name, status, { type = 'application/json', encoding = 'identity', body = '{}', payer }) => {
    const account = newId('acct');
    const key = keyOf(payer ? newDelegateKey(account) : newServiceKey(account));
    const chunks = async function* () {
      yield Buffer.from(body);
    };
    const quote = async () => {
      const response = await fetch(`${gateway.url}/v1/quote`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': type, 'content-encoding': encoding },
        ...(name.endsWith('Content-Length') ? { body: chunks(), duplex: 'half' as const } : { body }),
      });
      await response.text();
      return { status: response.status, quota: response.headers.get('ratelimit') };
    };
    expect(await quote()).toEqual({ status, quota: accountQuota(29) });
    const rest = await times(29, quote);
    expect(rest.map((each) => each.status)).toEqual(Array(29).fill(status));
    expect((await quote()).status).toBe(429);
    // The limit belongs to the account, not to the credential.
    const other = keyOf(newServiceKey(account));
    expect((await send('POST', '/v1/quote', { key: other, body: {} })).status).toBe(429);
  },
);

test('failed calls count: a GET with a body', async () => {
  const key = keyOf(newServiceKey());
  const get = `GET /v1/quotes HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\nconnection: close\r\n`;
  const replies = await times(POINTS, () => sendRaw(gateway.port, `${get}content-length: 2\r\n\r\n{}`));
  expect(replies.filter((reply) => reply.startsWith('HTTP/1.1 400 '))).toHaveLength(POINTS);
  expect((await send('GET', '/v1/quotes', { key })).status).toBe(429);
});

test('all limits of an operation apply, and the limits of an account can be raised', async () => {
  const path = `/v1/quotes/${newId('q')}`;
  const key = keyOf(newServiceKey());
  expect(passed(await times(9, () => send('GET', path, { key, from: '198.51.100.1' })))).toBe(3);
  const many = await times(60, () =>
    send('GET', path, { key: keyOf(newServiceKey()), from: '198.51.100.2' }),
  );
  expect(passed(many)).toBe(60);
  const rest = await times(60, () =>
    send('GET', path, { key: keyOf(newServiceKey()), from: '198.51.100.2' }),
  );
  expect(passed(rest)).toBe(40);
  const raised = keyOf(newServiceKey(raisedAccount));
  expect(passed(await times(30, () => send('GET', '/v1/quotes', { key: raised })))).toBe(2 * POINTS);
});

test('sign-in mail is limited per mailbox in every spelling and from every address, and per network for all mailboxes', async () => {
  const email = mailbox();
  const spellings = [email, email.toUpperCase(), email.replace('@', '＠')];
  const replies = await times(12, (i) =>
    send('POST', '/v1/auth/magic-link', { body: { email: spellings[i % 3] }, from: `203.0.113.${100 + i}` }),
  );
  expect(passed(replies)).toBe(5);
  // One mailbox, with its domain in its own script and as xn--.
  const idn = mailbox().replace('@', '@b\u00fccher-');
  const [local, domain] = idn.split('@') as [string, string];
  const both = [idn, `${local}@${domainToASCII(domain)}`];
  const named = await times(12, (i) =>
    send('POST', '/v1/auth/magic-link', { body: { email: both[i % 2] }, from: `203.0.113.${150 + i}` }),
  );
  expect(passed(named)).toBe(5);
  // All addresses of a /64 belong to one customer.
  const flood = await times(40, (i) =>
    send('POST', '/v1/auth/magic-link', { body: { email: mailbox() }, from: `2001:db8:1:2::${i + 1}` }),
  );
  expect(passed(flood)).toBe(30);
  const neighbour = await send('POST', '/v1/auth/magic-link', {
    body: { email: mailbox() },
    from: '2001:db8:1:3::1',
  });
  expect(neighbour.status).toBe(202);
});

test('an address that has used up its window does not use up the window of a mailbox', async () => {
  const email = mailbox();
  const from = (address: string, to = mailbox()) =>
    send('POST', '/v1/auth/magic-link', { body: { email: to }, from: address });
  await times(30, () => from('198.51.100.9'));
  const refused = await times(20, () => from('198.51.100.9', email));
  expect(refused.map(({ status }) => status)).toEqual(Array(20).fill(429));
  const owner = await times(6, () => from('198.51.100.10', email));
  expect(owner.filter(({ status }) => status === 202)).toHaveLength(5);
});

test('strangers do not use up the window of a browser that has signed in to the mailbox', async () => {
  const email = mailbox();
  const nonce = (letter: string) => letter.repeat(43);
  services.knownBrowsers.add(nonce('k'));
  const ask = (from: string, browser_nonce?: string) =>
    send('POST', '/v1/auth/magic-link', { body: { email, browser_nonce }, from });
  // Each stranger calls from another address, and with another nonce.
  const strangers = await times(8, (i) => ask(`198.51.100.${20 + i}`, nonce('abcdefgh'[i]!)));
  expect(passed(strangers)).toBe(5);
  expect((await ask('198.51.100.40')).status).toBe(429);
  expect(passed(await times(8, () => ask('198.51.100.41', nonce('k'))))).toBe(5);
});
