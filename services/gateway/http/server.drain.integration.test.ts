import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createKeyText } from '../../../shared/lib/key-text.ts';
import {
  type Gateway,
  newServiceKey,
  type Servers,
  type Services,
  startGateway,
  startServers,
  startServices,
} from '../../../test/support/gateway.ts';

/** Replicas that are replaced under load, behind what a load balancer does: it asks for readiness and retries nothing. */

let servers: Servers;
let services: Services;
let key = '';
const running = new Set<Gateway>();

const keys = { publicKeys: [], environments: ['test'] as const, limits: { scale: 1000 } };

/** A replica that says 503 for long enough that the balancer below notices, on a busy machine too. */
const start = async (): Promise<Gateway> => {
  const gateway = await startGateway(
    { natsPort: { test: servers.natsPort, live: servers.natsPort }, redisPort: servers.redisPort },
    { ...keys, env: { DRAIN_SECONDS: '2' } },
  );
  running.add(gateway);
  return gateway;
};
const stop = async (gateway: Gateway): Promise<number | null> => {
  running.delete(gateway);
  return gateway.stop();
};

beforeAll(async () => {
  servers = await startServers();
  services = await startServices(servers);
  key = services.addKey(createKeyText('vendor_test_'), newServiceKey());
  // Between 0 and 300 ms: at every moment calls of every age are under way.
  let nth = 0;
  services.answers['quote.list'] = async () => {
    nth += 1;
    await sleep((nth * 37) % 300);
    return { data: [], next_cursor: null };
  };
}, 30_000);
afterAll(async () => {
  await Promise.all([...running].map(stop));
  await services.stop();
  await servers.stop();
});

type Told = { status: number; connection: string | undefined };

/** One call over a connection that is kept, told apart from one whose connection broke. */
const call = (agent: Agent, { port }: Gateway, path = '/v1/quotes'): Promise<Told | string> =>
  new Promise((resolve) => {
    const headers = { authorization: `Bearer ${key}` };
    const sent = request({ agent, port, host: '127.0.0.1', path, headers }, (response) => {
      response.on('error', ({ message }) => resolve(message));
      response
        .resume()
        .on('end', () =>
          resolve({ status: response.statusCode ?? 0, connection: response.headers.connection }),
        );
    });
    sent.on('error', ({ message }) => resolve(message));
    sent.end();
  });

test('a rolling restart under load: not one call is lost, and each replica ends by itself', async () => {
  let ready: Gateway[] = [await start(), await start()];
  let going = true;
  const probes = new Agent({ keepAlive: false });
  const balance = async () => {
    while (going) {
      const seen = await Promise.all(
        [...running, ...ready].map(async (each) => {
          const told = await call(probes, each, '/v1/health/ready');
          return typeof told === 'object' && told.status === 200 ? each : null;
        }),
      );
      ready = [...new Set(seen.filter((each) => each !== null))];
      await sleep(50);
    }
  };
  const told: (Told | string)[] = [];
  const work = async (worker: number) => {
    const agent = new Agent({ keepAlive: true });
    for (let i = worker; going; i += 1) told.push(await call(agent, ready[i % ready.length]!));
    agent.destroy();
  };
  const all = [balance(), ...Array.from({ length: 24 }, (_, i) => work(i))];

  for (const old of [...running]) {
    await start();
    const before = told.length;
    expect(await stop(old)).toBe(0);
    expect(told.length).toBeGreaterThan(before);
  }
  going = false;
  await Promise.all(all);
  expect(told.filter((each) => typeof each === 'string' || each.status !== 200)).toEqual([]);
  // It did happen while calls went on: some were told to come by another connection.
  expect(told.some((each) => typeof each === 'object' && each.connection === 'close')).toBe(true);
}, 60_000);

test('a call that is still being sent when the port closes is read to its end and answered', async () => {
  const gateway = await start();
  const socket = connect(gateway.port, '127.0.0.1');
  let answer = '';
  socket.on('data', (bytes) => (answer += String(bytes)));
  const body = JSON.stringify({ email: 'slow@example.com', environment: 'test' });
  services.answers['identity.requestMagicLink'] = () => ({ status: 'sent' });
  const head = `POST /v1/auth/magic-link HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`;
  socket.write(`${head}\r\n\r\n${body.slice(0, 10)}`);
  const stopped = stop(gateway);
  // Until nobody new is let in.
  const idle = new Agent();
  while (typeof (await call(idle, gateway, '/v1/health')) === 'object') await sleep(50);
  socket.write(body.slice(10));
  await once(socket, 'close');
  expect(answer).toMatch(/^HTTP\/1\.1 202 /);
  expect(answer).toMatch(/^connection: close\r$/m);
  expect(await stopped).toBe(0);
}, 30_000);

test('a call on a connection that was opened for it before the port closed is answered', async () => {
  const gateway = await start();
  const socket = connect(gateway.port, '127.0.0.1');
  let answer = '';
  socket.on('data', (bytes) => (answer += String(bytes)));
  const stopped = stop(gateway);
  const idle = new Agent();
  while (typeof (await call(idle, gateway, '/v1/health')) === 'object') await sleep(20);
  socket.write(`GET /v1/quotes HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`);
  await once(socket, 'close');
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  expect(await stopped).toBe(0);
}, 30_000);

test('who finds the port open is served, though the bus takes its time to answer', async () => {
  const slow = createServer((inner) => {
    setTimeout(() => {
      const outer = connect(servers.natsPort, '127.0.0.1');
      inner.pipe(outer).pipe(inner);
      for (const each of [inner, outer]) each.on('error', () => {});
    }, 300);
  });
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
  const { port } = slow.address() as AddressInfo;
  const gateway = await startGateway(
    { natsPort: { test: port, live: port }, redisPort: servers.redisPort },
    { ...keys, waitForReady: false },
  );
  running.add(gateway);
  expect(await call(new Agent(), gateway)).toMatchObject({ status: 200 });
  await stop(gateway);
  slow.close();
}, 30_000);

test('connections that were opened in advance and never used do not hold up a stop', async () => {
  const gateway = await start();
  const unused = Array.from({ length: 3 }, () => connect(gateway.port, '127.0.0.1'));
  await Promise.all(unused.map((socket) => once(socket, 'connect')));
  // 0: by itself, not by the force that comes after 45 s.
  expect(await stop(gateway)).toBe(0);
  for (const socket of unused) socket.destroy();
}, 30_000);
