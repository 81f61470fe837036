import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { waitUntil } from '../../test/support/base/wait.ts';
import { createTestBus, type TestBus } from '../../test/support/servers/bus.ts';
import { startProxy, type TcpProxy } from '../../test/support/servers/proxy.ts';
import { subjects } from '../contract/service.ts';
import type { Bus } from './connect.ts';
import { publish } from './publish.ts';

/**
 * Well before the library itself would try again: after 20 s, or when a clock has reached its
 * earlier time.
 */
const SOON_MS = 10_000;

let testBus: TestBus;
beforeAll(async () => {
  testBus = await createTestBus();
});
afterAll(() => testBus.stop());

let proxy: TcpProxy;
let bus: Bus;
beforeEach(async () => {
  proxy = await startProxy(testBus.port);
});
afterEach(async () => {
  jest.restoreAllMocks();
  proxy.stop();
  await bus.nc.close();
});

const until = (good: () => boolean | Promise<boolean>, withinMs = SOON_MS) =>
  waitUntil(good, { withinMs, everyMs: 20 });
/** A replica that connects through the proxy, and how often it has lost its connection. */
const replica = async () => {
  bus = await testBus.as('settlement', proxy.port);
  const seen = { lost: 0 };
  void (async () => {
    for await (const { type } of bus.nc.status()) if (type === 'disconnect') seen.lost += 1;
  })();
  return seen;
};
let messages = 0;
const publishes = (): Promise<boolean> =>
  publish(bus, {
    subject: subjects.event('settlement', 'expired'),
    msgId: `reconnect-${messages++}`,
    payload: {},
  }).then(
    () => true,
    () => false,
  );

test('a process whose clock is set back reconnects at once', async () => {
  const right = Date.now;
  const ahead = jest.spyOn(Date, 'now').mockImplementation(() => right() + 300_000);
  const seen = await replica();
  ahead.mockRestore();
  proxy.cut();
  await until(() => seen.lost > 0);
  await until(publishes);
});

test('a connection that the server closes before the login is tried again at once', async () => {
  const seen = await replica();
  proxy.greetOnly(true);
  proxy.cut();
  await until(() => proxy.accepted() > 1 && seen.lost > 1);
  proxy.greetOnly(false);
  await until(publishes, 4000); // An unanswered call would last 5 s.
});

test('a silent server is tried again, and its late answers to abandoned attempts have no effect', async () => {
  const seen = await replica();
  proxy.freeze(true);
  proxy.cut();
  await until(() => proxy.accepted() > 2);
  proxy.freeze(false);
  await until(publishes);
  await until(() => proxy.open() === 1);
  expect([seen.lost, await publishes()]).toEqual([1, true]);
});

test('a dead connection is dropped at once, even with unsent data', async () => {
  const seen = await replica();
  proxy.freeze(true);
  const body = new Uint8Array(900_000);
  for (let sent = 0; sent < 32; sent += 1) bus.nc.publish(subjects.event('settlement', 'expired'), body);
  await setImmediate(); // It is written once a turn.
  await bus.nc.reconnect();
  await until(() => seen.lost > 0);
  proxy.freeze(false);
  await until(publishes);
});
