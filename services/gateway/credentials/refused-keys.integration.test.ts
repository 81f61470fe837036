import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createKeyText, keyHash } from '../../../shared/lib/tokens/key-text.ts';
import { waitUntil } from '../../../test/support/base/wait.ts';
import {
  type Gateway,
  newServiceKey,
  newSigningKey,
  type Servers,
  type Services,
  startGateway,
  startServers,
  startServices,
} from '../../../test/support/fixtures/gateway.ts';
import { type Link, startLink } from '../../../test/support/servers/link.ts';

/** Keys that identity refuses, from addresses that several callers share. */

const ATTEMPTS = 60;
let servers: Servers;
let services: Services;
let redis: Link;
let gateways: [Gateway, Gateway];

beforeAll(async () => {
  servers = await startServers();
  services = await startServices(servers);
  redis = await startLink(servers.redisPort);
  const start = () =>
    startGateway(
      { natsPort: { test: servers.natsPort, live: servers.natsPort }, redisPort: redis.port },
      { publicKeys: [newSigningKey('test.session.1').entry] },
    );
  gateways = [await start(), await start()];
  services.answers['quote.list'] = () => ({ data: [], next_cursor: null });
});
afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.stop()));
  await redis.stop();
  await services.stop();
  await servers.stop();
});
beforeEach(() => {
  services.queriedHashes.length = 0;
});

const call = async (from: string, key: string, { to = gateways[0] } = {}) => {
  const response = await fetch(`${to.url}/v1/quotes`, {
    headers: { 'x-forwarded-for': from, authorization: `Bearer ${key}` },
  });
  const { error } = (await response.json()) as { error?: { code: string } };
  return { status: response.status, code: error?.code, retryAfter: response.headers.get('retry-after') };
};
/** A well-formed key that identity does not know. */
const guess = (environment: 'test' | 'live' = 'test') => createKeyText(`vendor_${environment}_`);
const goodKey = () => services.addKey(createKeyText('vendor_test_'), newServiceKey());
const statusesOf = async (n: number, work: () => Promise<{ status: number }>) => {
  const found: number[] = [];
  for (let i = 0; i < n; i += 1) found.push((await work()).status);
  return found;
};
/** Uses up all attempts of an address. */
const useUp = async (from: string, options = {}) => {
  const guesses = Array.from({ length: ATTEMPTS }, () => call(from, guess(), options));
  expect((await Promise.all(guesses)).map(({ status }) => status)).toEqual(Array(ATTEMPTS).fill(401));
};

test('an attacker is refused, and a customer with a good key at the same address is not', async () => {
  const from = '203.0.113.1';
  const customer = goodKey();
  expect((await call(from, customer)).status).toBe(200);
  await useUp(from);
  services.queriedHashes.length = 0;
  const stopped = await call(from, guess());
  expect(stopped).toMatchObject({ status: 429, code: 'rate_limited' });
  expect(Number(stopped.retryAfter)).toBeGreaterThan(50);
  expect(Number(stopped.retryAfter)).toBeLessThanOrEqual(60);
  expect(await statusesOf(20, () => call(from, guess()))).toEqual(Array(20).fill(429));
  expect(services.queriedHashes).toEqual([]);

  // The customer's calls pass, also when the cached key is too old and identity is queried again.
  await waitUntil(async () => {
    expect((await call(from, customer)).status).toBe(200);
    return services.queriedHashes.includes(keyHash(customer));
  });
  expect(await statusesOf(20, () => call(from, customer))).toEqual(Array(20).fill(200));
  // A good key that is new to the gateway is refused at this address and passes at another.
  const newcomer = goodKey();
  expect((await call(from, newcomer)).status).toBe(429);
  expect((await call('203.0.113.2', newcomer)).status).toBe(200);
  expect((await call(from, newcomer)).status).toBe(200);
});

test('neither good keys nor credentials that are refused without a query are counted', async () => {
  const from = '203.0.113.10';
  const keys = Array.from({ length: 2 * ATTEMPTS }, goodKey);
  const answers = await Promise.all(keys.map((key) => call(from, key)));
  expect(answers.map(({ status }) => status)).toEqual(Array(2 * ATTEMPTS).fill(200));
  const malformed = (key: string) => `${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`;
  // Only these are looked for: good keys, those of other tests included, are read again ahead.
  const wrong = [() => malformed(guess()), () => 'a.b.c', () => 'none'].flatMap((credential) =>
    Array.from({ length: ATTEMPTS }, credential),
  );
  expect(await Promise.all(wrong.map((credential) => call(from, credential)))).toEqual(
    Array(wrong.length).fill({ status: 401, code: 'unauthorized', retryAfter: null }),
  );
  const hashes = new Set(wrong.map(keyHash));
  expect(services.queriedHashes.filter((hash) => hashes.has(hash))).toEqual([]);
  expect((await call(from, guess())).status).toBe(401);
  await useUp('203.0.113.11');
  // At an address without attempts left, the answer to both is the same.
  expect((await call('203.0.113.11', malformed(guess()))).status).toBe(401);
});

test('a revoked key is counted as refused and no longer remembered as good', async () => {
  const from = '203.0.113.20';
  const revoked = goodKey();
  expect((await call(from, revoked)).status).toBe(200);
  services.keys.delete(keyHash(revoked));
  await services.publish('test', 'identity', 'keysRevoked', { key_hashes: [keyHash(revoked)] });
  await waitUntil(async () => (await call(from, revoked)).status !== 200, { everyMs: 5 });
  await statusesOf(ATTEMPTS, () => call(from, revoked));
  expect((await call(from, revoked)).status).toBe(429);
});

test('a /64 counts as one address; another /64 and the other environment have separate attempts', async () => {
  await Promise.all(Array.from({ length: ATTEMPTS }, (_, i) => call(`2001:db8:1:2::${i + 1}`, guess())));
  expect((await call('2001:db8:1:2:ffff::1', guess())).status).toBe(429);
  expect((await call('2001:db8:1:3::1', guess())).status).toBe(401);
  expect((await call('2001:db8:1:2::1', guess('live'))).status).toBe(401);
});

test('replicas share the count: after its next refusal the other replica refuses too', async () => {
  const from = '203.0.113.30';
  await useUp(from);
  expect((await call(from, guess(), { to: gateways[1] })).status).toBe(401);
  expect((await call(from, guess(), { to: gateways[1] })).status).toBe(429);
});

test('while Redis is unavailable attempts are counted in memory, and good keys pass', async () => {
  redis.set('cut');
  await waitUntil(() => gateways[0].log().includes('redis unavailable'));
  const from = '203.0.113.40';
  const customer = goodKey();
  expect((await call(from, customer)).status).toBe(200);
  await useUp(from);
  expect((await call(from, guess())).status).toBe(429);
  expect((await call(from, customer)).status).toBe(200);
  redis.set('open');
});
