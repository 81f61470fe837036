import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createKeyText } from '../../../shared/lib/tokens/key-text.ts';
import { waitUntil } from '../../../test/support/base/wait.ts';
import {
  type Gateway,
  newServiceKey,
  type Servers,
  type Services,
  startGateway,
  startServers,
  startServices,
} from '../../../test/support/fixtures/gateway.ts';

/**
 * Replicas that are replaced under load, behind a load balancer that probes readiness and retries
 * nothing.
 */

let servers: Servers;
let services: Services;
let key = '';
const running = new Set<Gateway>();

const keys = { publicKeys: [], environments: ['test'] as const, limits: { scale: 1000 } };

/**
 * A replica that answers 503 long enough for the balancer below to notice, also on a busy machine.
 */
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
  // Latencies between 0 and 300 ms, so that at every moment calls of every age are in progress.
  let nth = 0;
  services.answers['quote.list'] = () => {
    nth += 1;
    return sleep((nth * 37) % 300, { data: [], next_cursor: null });
  };
});
afterAll(async () => {
  await Promise.all([...running].map(stop));
  await services.stop();
  await servers.stop();
});

type Answered = { status: number; connection: string | undefined };

/** Makes one call over a persistent connection. Returns the error text if the connection breaks. */
const call = (agent: Agent, { port }: Gateway, path = '/v1/quotes'): Promise<Answered | string> =>
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

/** Waits until no new connection is accepted. */
const portClosed = (gateway: Gateway) => {
  const idle = new Agent();
  return waitUntil(async () => typeof (await call(idle, gateway, '/v1/health')) !== 'object');
};

test('a rolling restart under load loses no call, and each replica exits by itself', async () => {
  let ready: Gateway[] = [await start(), await start()];
  let going = true;
  const probes = new Agent({ keepAlive: false });
  const balance = async () => {
    while (going) {
      const probed = await Promise.all(
        [...running, ...ready].map(async (each) => {
          const answer = await call(probes, each, '/v1/health/ready');
          return typeof answer === 'object' && answer.status === 200 ? each : null;
        }),
      );
      ready = [...new Set(probed.filter((each) => each !== null))];
      await sleep(50);
    }
  };
  const answers: (Answered | string)[] = [];
  const work = async (worker: number) => {
    const agent = new Agent({ keepAlive: true });
    for (let i = worker; going; i += 1) answers.push(await call(agent, ready[i % ready.length]!));
    agent.destroy();
  };
  const all = [balance(), ...Array.from({ length: 24 }, (_, i) => work(i))];

  for (const old of [...running]) {
    await start();
    const before = answers.length;
    expect(await stop(old)).toBe(0);
    expect(answers.length).toBeGreaterThan(before);
  }
  going = false;
  await Promise.all(all);
  expect(answers.filter((each) => typeof each === 'string' || each.status !== 200)).toEqual([]);
  // The restarts happened during calls: some answers requested a new connection.
  expect(answers.some((each) => typeof each === 'object' && each.connection === 'close')).toBe(true);
});

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
  await portClosed(gateway);
  socket.write(body.slice(10));
  await once(socket, 'close');
  expect(answer).toMatch(/^HTTP\/1\.1 202 /);
  expect(answer).toMatch(/^connection: close\r$/m);
  expect(await stopped).toBe(0);
});

test('a call on a connection that was opened for it before the port closed is answered', async () => {
  const gateway = await start();
  const socket = connect(gateway.port, '127.0.0.1');
  let answer = '';
  socket.on('data', (bytes) => (answer += String(bytes)));
  const stopped = stop(gateway);
  await portClosed(gateway);
  socket.write(`GET /v1/quotes HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`);
  await once(socket, 'close');
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  expect(await stopped).toBe(0);
});

test('a call to an open port is served, although the bus answers slowly', async () => {
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
});

test('connections that were opened in advance and never used do not delay a stop', async () => {
  const gateway = await start();
  const unused = Array.from({ length: 3 }, () => connect(gateway.port, '127.0.0.1'));
  await Promise.all(unused.map((socket) => once(socket, 'connect')));
  // 0: the process exits by itself, not by the force that is used after 45 s.
  expect(await stop(gateway)).toBe(0);
  for (const socket of unused) socket.destroy();
});
