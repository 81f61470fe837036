import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createKeyText, keyHash } from '../../../shared/lib/tokens/key-text.ts';
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

const session = newSigningKey('test.session.1');
let servers: Servers;
let services: Services;
let gateways: Gateway[];

beforeAll(async () => {
  servers = await startServers();
  services = await startServices(servers);
  const natsPort = { test: servers.natsPort, live: servers.natsPort };
  const options = { publicKeys: [session.entry], limits: { scale: 1000 } };
  // Two replicas, because every replica must receive the events.
  gateways = await Promise.all(
    [1, 2].map(() => startGateway({ natsPort, redisPort: servers.redisPort }, options)),
  );
  services.answers['quote.list'] = () => ({ data: [], next_cursor: null });
});
afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.stop()));
  await services.stop();
  await servers.stop();
});

const statusOf = async (
  gateway: Gateway,
  token: string | undefined,
  call = 'GET /v1/quotes',
  body?: object,
): Promise<{ status: number; code: string | undefined; text: string; ms: number }> => {
  const startedAt = performance.now();
  const [method, path] = call.split(' ') as [string, string];
  const response = await fetch(gateway.url + path, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: token.includes(' ') ? token : `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const { error } = (text === '' ? {} : JSON.parse(text)) as { error?: { code: string } };
  return { status: response.status, code: error?.code, text, ms: performance.now() - startedAt };
};

test('a burst of one key queries identity once; a key with a wrong checksum causes no query', async () => {
  const text = services.addKey(createKeyText('vendor_test_'), newServiceKey());
  services.queriedHashes.length = 0;
  const startedAt = performance.now();
  const answers = await Promise.all(Array.from({ length: 32 }, () => statusOf(gateways[0]!, text)));
  // An answer is cached for a second, and a burst may take longer on a busy machine.
  const queries = 1 + Math.floor((performance.now() - startedAt) / 1000);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(services.queriedHashes.length).toBeLessThanOrEqual(queries);
  expect(new Set(services.queriedHashes)).toEqual(new Set([keyHash(text)]));

  services.queriedHashes.length = 0;
  const other = (character: string) => (character === 'a' ? 'b' : 'a');
  for (const at of ['vendor_test_'.length, 30, text.length - 7, text.length - 1]) {
    const typo = text.slice(0, at) + other(text[at]!) + text.slice(at + 1);
    expect((await statusOf(gateways[0]!, typo)).status).toBe(401);
  }
  for (const wrong of [text.slice(0, -1), `${text}a`, text.toLowerCase(), text.replace('vendor', 'dk')]) {
    expect((await statusOf(gateways[0]!, wrong)).status).toBe(401);
  }
  expect(services.queriedHashes).toEqual([]);
});

test('a revoked key is dropped by its event on every replica, before its cache entry is too old', async () => {
  // On a busy machine the entry may have become too old before the event. Such a round proves
  // nothing, and another one follows.
  await waitUntil(async () => {
    const text = services.addKey(createKeyText('vendor_test_'), newServiceKey());
    const [hash, filledAt] = [keyHash(text), performance.now()];
    await Promise.all(gateways.map((gateway) => statusOf(gateway, text)));
    services.keys.delete(hash);
    const cachedStatus = (await statusOf(gateways[0]!, text)).status;
    await services.publish('test', 'identity', 'keysRevoked', { key_hashes: [hash] });
    for (const gateway of gateways) {
      await waitUntil(async () => (await statusOf(gateway, text)).status === 401, { everyMs: 5 });
    }
    // Refused by a query that the age alone would not have caused yet.
    return cachedStatus === 200 && performance.now() - filledAt < 900;
  });
});

test('a revoked key whose event is lost is refused within 2 s', async () => {
  const text = services.addKey(createKeyText('dk_test_'), newDelegateKey());
  const call = 'GET /v1/delegates/me';
  services.answers['identity.getOwnDelegate'] = () => null;
  await statusOf(gateways[0]!, text, call);
  services.keys.delete(keyHash(text));
  const isRefused = async () => (await statusOf(gateways[0]!, text, call)).status === 401;
  await waitUntil(isRefused, { withinMs: 2000 });
});

test('an event with a wrong payload, or of another environment, changes nothing', async () => {
  const text = services.addKey(createKeyText('vendor_test_'), newServiceKey());
  await statusOf(gateways[0]!, text);
  await services.publish('test', 'identity', 'keysRevoked', { key_hashes: 'all' });
  await services.publish('live', 'identity', 'keysRevoked', { key_hashes: [keyHash(text)] });
  expect((await statusOf(gateways[0]!, text)).status).toBe(200);
});

test('malformed credentials are refused in the time of an unknown key', async () => {
  const text = services.addKey(createKeyText('vendor_test_'), newServiceKey());
  const unknown = createKeyText('vendor_test_');
  const bad = [
    undefined,
    'Bearer ',
    `Basic ${Buffer.from(`${text}:`).toString('base64')}`,
    `Bearer ${text} ${text}`,
    `${text.slice(0, -1)}${text.endsWith('a') ? 'b' : 'a'}`,
    `vendor_test_${'é'.repeat(1)}`.normalize('NFD').replace(/[^\x20-\x7e]/g, ''),
    unknown,
    'vendor_test_',
    'x'.repeat(5000),
  ];
  for (const token of bad) {
    const answer = await statusOf(gateways[0]!, token);
    expect([token, answer.status]).toEqual([token, 401]);
    // No refusal is faster than the query of an unknown key could be.
    expect(answer.ms).toBeGreaterThan(15);
  }
  expect((await statusOf(gateways[0]!, undefined, `GET /v1/quotes?authorization=${text}`)).status).toBe(401);
});

test('a key rotates itself without a recent sign-in, because keys have no age', async () => {
  services.answers['identity.rotateServiceKey'] = () => ({ api_key: 'x', previous_key_expires_at: null });
  const principal = newServiceKey();
  const text = services.addKey(createKeyText('vendor_test_'), principal);
  const call = `POST /v1/services/${principal.service_id}/key/rotate`;
  expect((await statusOf(gateways[0]!, text, call)).status).toBe(200);
});
