import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createKeyText } from '../../../shared/lib/tokens/key-text.ts';
import { waitUntil } from '../../../test/support/base/wait.ts';
import {
  type Gateway,
  newDelegateKey,
  newServiceKey,
  type Servers,
  type Services,
  startGateway,
  startServers,
  startServices,
} from '../../../test/support/fixtures/gateway.ts';
import { type Link, startLink } from '../../../test/support/servers/link.ts';

/** Tests what callers see while NATS or the services of an environment are unavailable. */

let servers: Servers;
let services: Services;
let gateway: Gateway;
let links: { test: Link; live: Link };
let vendor: { test: string; live: string };
let payer = '';

const list = { data: [], next_cursor: null };
const order = { quote_token: 'a.b', payment_attempt_id: 'p1' };

const addKeys = () => {
  vendor = {
    test: services.addKey(createKeyText('vendor_test_'), newServiceKey()),
    live: services.addKey(createKeyText('vendor_live_'), newServiceKey()),
  };
  payer = services.addKey(createKeyText('dk_test_'), newDelegateKey());
  services.answers['quote.list'] = () => list;
};

beforeAll(async () => {
  servers = await startServers();
  links = { test: await startLink(servers.natsPort), live: await startLink(servers.natsPort) };
  services = await startServices(servers);
  gateway = await startGateway(
    { natsPort: { test: links.test.port, live: links.live.port }, redisPort: servers.redisPort },
    { publicKeys: [] },
  );
});

afterAll(async () => {
  await gateway.stop();
  await services.stop();
  await Promise.all([links.test.stop(), links.live.stop()]);
  await servers.stop();
});

beforeEach(addKeys);

const get = async (path: string, key?: string, { url } = gateway) => {
  const startedAt = performance.now();
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const response = await fetch(url + path, { headers });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown> & { error?: Record<string, unknown> },
    ms: performance.now() - startedAt,
  };
};
const readiness = (of = gateway) => get('/v1/health/ready', undefined, of);
const settle = async () => {
  const response = await fetch(`${gateway.url}/v1/settle`, {
    method: 'POST',
    headers: { authorization: `Bearer ${payer}`, 'content-type': 'application/json' },
    body: JSON.stringify(order),
  });
  return { status: response.status, body: (await response.json()) as { error?: Record<string, unknown> } };
};

test('a gateway is alive at once, and ready only when every environment has answered', async () => {
  const own = await startServers();
  const live = await startLink(own.natsPort);
  live.set('cut');
  const starting = await startGateway(
    { natsPort: { test: own.natsPort, live: live.port }, redisPort: own.redisPort },
    { publicKeys: [], waitForReady: false },
  );
  let ownServices: Services | undefined;
  try {
    const unserved = await readiness(starting);
    expect(unserved).toMatchObject({ status: 503, body: { error: { code: 'service_unavailable' } } });
    expect(unserved.headers.get('retry-after')).toBe('1');
    expect(unserved.body.error?.message).toMatch(/quote of test.*nats of live/);

    ownServices = await startServices(own);
    ownServices.answers['quote.list'] = () => list;
    const key = {
      test: ownServices.addKey(createKeyText('vendor_test_'), newServiceKey()),
      live: ownServices.addKey(createKeyText('vendor_live_'), newServiceKey()),
    };
    const message = async () => (await readiness(starting)).body.error?.message;
    await waitUntil(async () => !/ of test/.test(String(await message())));
    expect(await message()).toBe(
      'starting: waiting for nats of live, quote of live, settlement of live, wallet of live, funding of live, identity of live',
    );
    // Until then calls of live are refused, and calls of test are answered.
    expect(await get('/v1/quotes', key.live, starting)).toMatchObject({ status: 503 });
    expect(await get('/v1/quotes', key.test, starting)).toMatchObject({ status: 200, body: list });
    live.set('open');
    await waitUntil(async () => (await readiness(starting)).status === 200);
  } finally {
    await starting.stop();
    await ownServices?.stop();
    await live.stop();
    await own.stop();
  }
});

test('while the NATS of an environment is unavailable, its calls get 503 and other environments are unaffected', async () => {
  links.live.set('cut');
  try {
    const environments = async () =>
      (await readiness()).body.environments as Record<string, Record<string, string>> | undefined;
    await waitUntil(async () => (await environments())?.live?.nats === 'down');
    const refused = await get('/v1/quotes', vendor.live);
    expect(refused).toMatchObject({ status: 503, body: { error: { code: 'service_unavailable' } } });
    expect(refused.headers.get('retry-after')).toBe('1');
    expect((await get('/v1/quotes', vendor.test)).status).toBe(200);
    expect((await readiness()).status).toBe(200);
    expect(await environments()).toMatchObject({
      live: { nats: 'down', quote: 'down' },
      test: { nats: 'up', quote: 'up' },
    });
  } finally {
    links.live.set('open');
  }
  await waitUntil(async () => (await get('/v1/quotes', vendor.live)).status === 200);
});

test('a service that does not answer in time gets 503 after 5 s, without a statement about money', async () => {
  services.answers['quote.list'] = () => sleep(7000, list);
  const late = await get('/v1/quotes', vendor.test);
  expect(late.status).toBe(503);
  expect(late.ms).toBeGreaterThan(4900);
  expect(late.body.error).not.toHaveProperty('money_moved');
});

test('a settle waits longer than 5 s, because the service itself waits for the chain', async () => {
  // The answer does not fit the contract, so a call that was not given up gets 500.
  services.answers['settlement.settle'] = () => sleep(6000, { settlement_id: 'x' });
  expect(await settle()).toMatchObject({
    status: 500,
    body: { error: { money_moved: 'unknown', safe_action: 'retry_same_attempt' } },
  });
});

test('while no service answers, calls get 503 immediately, and the error of a settle does not deny that money moved', async () => {
  await services.stop();
  try {
    expect(await settle()).toMatchObject({
      status: 503,
      body: {
        error: { code: 'service_unavailable', money_moved: 'unknown', safe_action: 'retry_same_attempt' },
      },
    });
  } finally {
    services = await startServices(servers);
  }
  addKeys();
  expect((await get('/v1/quotes', vendor.test)).status).toBe(200);
});

test('SIGTERM: readiness answers 503, connections end, in-flight calls finish, the exit code is 0', async () => {
  const stopping = await startGateway(
    { natsPort: { test: links.test.port, live: links.live.port }, redisPort: servers.redisPort },
    { publicKeys: [], env: { DRAIN_SECONDS: '2' } },
  );
  let answer = () => {};
  const answered = new Promise<typeof list>((resolve) => {
    answer = () => resolve(list);
  });
  services.answers['quote.list'] = () => answered;
  services.calls.length = 0;
  const inFlight = get('/v1/quotes', vendor.test, stopping);
  await waitUntil(() => services.calls.length === 1);
  const stopped = stopping.stop();
  await waitUntil(async () => (await readiness(stopping)).status === 503);
  const draining = await readiness(stopping);
  expect(draining).toMatchObject({
    status: 503,
    body: { error: { code: 'service_unavailable', message: 'draining' } },
  });
  expect(draining.headers.get('connection')).toBe('close');
  answer();
  expect(await inFlight).toMatchObject({ status: 200, body: list });
  expect(await stopped).toBe(0);
});
