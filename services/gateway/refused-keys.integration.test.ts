import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createKeyText, keyHash } from '../../shared/lib/key-text.ts';
import {
  createWire,
  type Gateway,
  newServiceKey,
  newSigningKey,
  type Servers,
  type Services,
  startGateway,
  startServers,
  startServices,
} from './test-support.ts';

/** Keys that identity refuses, from addresses that others share. */

const TRIES = 60;
let servers: Servers;
let services: Services;
let redis: Awaited<ReturnType<typeof createWire>>;
let gateways: [Gateway, Gateway];

beforeAll(async () => {
  servers = await startServers();
  services = await startServices(servers);
  redis = await createWire(servers.redisPort);
  const start = () =>
    startGateway(
      { natsPort: { test: servers.natsPort, live: servers.natsPort }, redisPort: redis.port },
      { publicKeys: [newSigningKey('test.session.1').entry] },
    );
  gateways = [await start(), await start()];
  services.answers['quote.list'] = () => ({ data: [], next_cursor: null });
}, 60_000);
afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.stop()));
  await redis.stop();
  await services.stop();
  await servers.stop();
});
beforeEach(() => {
  services.lookUps.length = 0;
});

const call = async (from: string, key: string, { to = gateways[0] } = {}) => {
  const response = await fetch(`${to.url}/v1/quotes`, {
    headers: { 'x-forwarded-for': from, authorization: `Bearer ${key}` },
  });
  const { error } = (await response.json()) as { error?: { code: string } };
  return { status: response.status, code: error?.code, retryAfter: response.headers.get('retry-after') };
};
/** A key that is well formed, and nobody's. */
const guess = (environment: 'test' | 'live' = 'test') => createKeyText(`vendor_${environment}_`);
const goodKey = () => services.addKey(createKeyText('vendor_test_'), newServiceKey());
const statusesOf = async (n: number, work: () => Promise<{ status: number }>) => {
  const found: number[] = [];
  for (let i = 0; i < n; i += 1) found.push((await work()).status);
  return found;
};
/** Takes all tries of an address. */
const useUp = async (from: string, options = {}) => {
  const guesses = Array.from({ length: TRIES }, () => call(from, guess(), options));
  expect((await Promise.all(guesses)).map(({ status }) => status)).toEqual(Array(TRIES).fill(401));
};

test('an attacker and a good customer behind one address: the one is stopped, the other is not', async () => {
  const from = '203.0.113.1';
  const customer = goodKey();
  expect((await call(from, customer)).status).toBe(200);
  await useUp(from);
  services.lookUps.length = 0;
  const stopped = await call(from, guess());
  expect(stopped).toMatchObject({ status: 429, code: 'rate_limited' });
  expect(Number(stopped.retryAfter)).toBeGreaterThan(50);
  expect(Number(stopped.retryAfter)).toBeLessThanOrEqual(60);
  expect(await statusesOf(20, () => call(from, guess()))).toEqual(Array(20).fill(429));
  expect(services.lookUps).toEqual([]);

  // The customer goes on, also when what is known of its key is old and is asked for again.
  await sleep(1100);
  expect(await statusesOf(20, () => call(from, customer))).toEqual(Array(20).fill(200));
  expect(services.lookUps).toContain(keyHash(customer));
  // A good key that is new here is held up, and elsewhere is not.
  const newcomer = goodKey();
  expect((await call(from, newcomer)).status).toBe(429);
  expect((await call('203.0.113.2', newcomer)).status).toBe(200);
  expect((await call(from, newcomer)).status).toBe(200);
});

test('good keys never count, however many and at once; neither does what nobody has to be asked about', async () => {
  const from = '203.0.113.10';
  const keys = Array.from({ length: 2 * TRIES }, goodKey);
  const answers = await Promise.all(keys.map((key) => call(from, key)));
  expect(answers.map(({ status }) => status)).toEqual(Array(2 * TRIES).fill(200));
  const malformed = (key: string) => `${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`;
  const asked = services.lookUps.length;
  for (const wrong of [() => malformed(guess()), () => 'a.b.c', () => 'none']) {
    expect(await Promise.all(Array.from({ length: TRIES }, () => call(from, wrong())))).toEqual(
      Array(TRIES).fill({ status: 401, code: 'unauthorized', retryAfter: null }),
    );
  }
  expect(services.lookUps).toHaveLength(asked);
  expect((await call(from, guess())).status).toBe(401);
  await useUp('203.0.113.11');
  // From an address that has used up its tries they are refused as ever.
  expect((await call('203.0.113.11', malformed(guess()))).status).toBe(401);
});

test('a key that has ended is a refused one, and no longer known as good', async () => {
  const from = '203.0.113.20';
  const ended = goodKey();
  expect((await call(from, ended)).status).toBe(200);
  services.keys.delete(keyHash(ended));
  await services.say('test', 'identity', 'keysRevoked', { key_hashes: [keyHash(ended)] });
  while ((await call(from, ended)).status === 200) await sleep(5);
  await statusesOf(TRIES, () => call(from, ended));
  expect((await call(from, ended)).status).toBe(429);
});

test('a /64 is one address; another /64 and the other environment have tries of their own', async () => {
  await Promise.all(Array.from({ length: TRIES }, (_, i) => call(`2001:db8:1:2::${i + 1}`, guess())));
  expect((await call('2001:db8:1:2:ffff::1', guess())).status).toBe(429);
  expect((await call('2001:db8:1:3::1', guess())).status).toBe(401);
  expect((await call('2001:db8:1:2::1', guess('live'))).status).toBe(401);
});

test('replicas count together: what one has used up, the other refuses after its next refusal', async () => {
  const from = '203.0.113.30';
  await useUp(from);
  expect((await call(from, guess(), { to: gateways[1] })).status).toBe(401);
  expect((await call(from, guess(), { to: gateways[1] })).status).toBe(429);
});

test('Redis away: counted in the process, and the customer goes on', async () => {
  redis.set('cut');
  await sleep(100);
  const from = '203.0.113.40';
  const customer = goodKey();
  expect((await call(from, customer)).status).toBe(200);
  await useUp(from);
  expect((await call(from, guess())).status).toBe(429);
  expect((await call(from, customer)).status).toBe(200);
  redis.set('open');
});
