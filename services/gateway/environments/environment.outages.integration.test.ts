import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createKeyText } from '../../../shared/lib/key-text.ts';
import {
  createWire,
  type Gateway,
  newDelegateKey,
  newServiceKey,
  type Servers,
  type Services,
  startGateway,
  startServers,
  startServices,
} from '../../../test/support/gateway.ts';

type Wire = Awaited<ReturnType<typeof createWire>>;

let servers: Servers;
let services: Services;
let gateway: Gateway;
let wires: { test: Wire; live: Wire };
let vendor: { test: string; live: string };
let payer = '';

const list = { data: [], next_cursor: null };
const order = { quote_token: 'a.b', payment_attempt_id: 'p1' };

beforeAll(async () => {
  servers = await startServers();
  wires = { test: await createWire(servers.natsPort), live: await createWire(servers.natsPort) };
  wires.live.set('cut');
  gateway = await startGateway(
    { natsPort: { test: wires.test.port, live: wires.live.port }, redisPort: servers.redisPort },
    { publicKeys: [], waitForReady: false },
  );
}, 30_000);

afterAll(async () => {
  await gateway.stop();
  await Promise.all([wires.test.stop(), wires.live.stop()]);
  await servers.stop();
});

const get = async (path: string, key?: string) => {
  const startedAt = performance.now();
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const response = await fetch(gateway.url + path, { headers });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown> & { error?: Record<string, unknown> },
    ms: performance.now() - startedAt,
  };
};
const settle = async () => {
  const response = await fetch(`${gateway.url}/v1/settle`, {
    method: 'POST',
    headers: { authorization: `Bearer ${payer}`, 'content-type': 'application/json' },
    body: JSON.stringify(order),
  });
  return { status: response.status, body: (await response.json()) as { error?: Record<string, unknown> } };
};
const eventually = async (condition: () => Promise<boolean>) => {
  for (let tries = 0; tries < 80; tries++) {
    if (await condition()) return;
    await sleep(100);
  }
  throw new Error('it did not happen within 8 s');
};
const isReady = async () => (await get('/v1/health/ready')).status === 200;

// The tests of this file are one story, in this order.

test('alive at once, ready only when every environment has answered', async () => {
  expect((await get('/v1/health')).status).toBe(200);
  const nobody = await get('/v1/health/ready');
  expect(nobody).toMatchObject({ status: 503, body: { error: { code: 'service_unavailable' } } });
  expect(nobody.headers.get('retry-after')).toBe('1');
  expect(nobody.body.error?.message).toMatch(/quote of test.*nats of live/);

  services = await startServices(servers);
  services.answers['quote.list'] = () => list;
  vendor = {
    test: services.addKey(createKeyText('vendor_test_'), newServiceKey()),
    live: services.addKey(createKeyText('vendor_live_'), newServiceKey()),
  };
  payer = services.addKey(createKeyText('dk_test_'), newDelegateKey());
  await sleep(600);
  expect((await get('/v1/health/ready')).body.error?.message).toBe(
    'starting: waiting for nats of live, quote of live, settlement of live, wallet of live, funding of live, identity of live',
  );
  // Until then live's calls are refused, and test's go through.
  expect(await get('/v1/quotes', vendor.live)).toMatchObject({ status: 503 });
  expect(await get('/v1/quotes', vendor.test)).toMatchObject({ status: 200, body: list });
  wires.live.set('open');
  await eventually(isReady);
});

test('an environment whose NATS goes away: its calls 503 at once, the other’s go on, readiness stays', async () => {
  wires.live.set('cut');
  await sleep(700);
  const refused = await get('/v1/quotes', vendor.live);
  expect(refused).toMatchObject({ status: 503, body: { error: { code: 'service_unavailable' } } });
  expect(refused.headers.get('retry-after')).toBe('1');
  // At once, and not after the 5 s that a call waits for an answer.
  expect(refused.ms).toBeLessThan(4000);
  expect((await get('/v1/quotes', vendor.test)).status).toBe(200);
  const { status, body } = await get('/v1/health/ready');
  expect(status).toBe(200);
  expect(body.environments).toMatchObject({
    live: { nats: 'down', quote: 'down' },
    test: { nats: 'up', quote: 'up' },
  });
  wires.live.set('open');
  await eventually(async () => (await get('/v1/quotes', vendor.live)).status === 200);
});

test('a service that does not answer in time: 503 after 5 s, and for money nobody knows', async () => {
  services.answers['quote.list'] = () => sleep(7000, list);
  const late = await get('/v1/quotes', vendor.test);
  expect(late.status).toBe(503);
  expect(late.ms).toBeGreaterThan(4900);
  expect(late.body.error).not.toHaveProperty('money_moved');
  services.answers['quote.list'] = () => list;

  // A settle gets longer: the service itself waits for the chain.
  services.answers['settlement.settle'] = () => sleep(6000, { settlement_id: 'x' });
  expect(await settle()).toMatchObject({
    status: 500,
    body: { error: { money_moved: 'unknown', safe_action: 'retry_same_attempt' } },
  });
}, 20_000);

test('nobody serves: 503 at once; a settle that nobody took moved nothing', async () => {
  await services.stop();
  await sleep(1100);
  expect(await settle()).toMatchObject({
    status: 503,
    body: {
      error: { code: 'service_unavailable', money_moved: 'unknown', safe_action: 'retry_same_attempt' },
    },
  });
  services = await startServices(servers);
  services.answers['quote.list'] = () => list;
  vendor.test = services.addKey(createKeyText('vendor_test_'), newServiceKey());
  expect((await get('/v1/quotes', vendor.test)).status).toBe(200);
});

test('SIGTERM: readiness 503, connections end, calls in flight finish, exit 0', async () => {
  services.answers['quote.list'] = () => sleep(1000, list);
  const inFlight = get('/v1/quotes', vendor.test);
  await sleep(200);
  const stopped = gateway.stop();
  await sleep(150);
  const draining = await get('/v1/health/ready');
  expect(draining).toMatchObject({
    status: 503,
    body: { error: { code: 'service_unavailable', message: 'draining' } },
  });
  expect(draining.headers.get('connection')).toBe('close');
  expect(await inFlight).toMatchObject({ status: 200, body: list });
  const startedAt = performance.now();
  expect(await stopped).toBe(0);
  // By itself, and not by the force that comes after 45 s.
  expect(performance.now() - startedAt).toBeLessThan(20_000);
  await services.stop();
}, 20_000);
