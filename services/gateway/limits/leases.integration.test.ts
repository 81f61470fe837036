import { readFileSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '../../../shared/lib/id.ts';
import { createLogger } from '../../../shared/lib/telemetry/logger.ts';
import { waitFor, waitUntil } from '../../../test/support/base/wait.ts';
import { startServers } from '../../../test/support/fixtures/gateway.ts';
import { connectRedis, type Redis } from '../redis/connect.ts';
import type { WindowState } from './quota.ts';
import { createRedisWindow } from './redis-window.ts';

/** Windows of two gateways, each with its own connection, on one Redis. */
const script = readFileSync(new URL('./sliding-window.lua', import.meta.url), 'utf8');
let servers: Awaited<ReturnType<typeof startServers>>;
let connections: Redis[];
let windows: ReturnType<typeof createRedisWindow>[];
beforeAll(async () => {
  servers = await startServers();
  const logger = createLogger('test', 'fatal');
  connections = [0, 1].map(() => connectRedis(`redis://127.0.0.1:${servers.redisPort}`, logger));
  await waitUntil(() => connections.every(({ status }) => status === 'ready'));
  windows = connections.map((redis) => createRedisWindow({ redis, script }));
});
afterAll(async () => {
  for (const redis of connections) redis.disconnect();
  await servers.stop();
});

/** The points of a window that are in use, leased ones too. */
const usedPoints = (key: string) => connections[0]!.llen(`calls:${key}`);
const commandsOf = async (): Promise<number> => {
  const stats = await connections[0]!.info('commandstats');
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0);
};

/** Calls one after the other, as a program that waits for each answer. */
const callInTurn = async (gateway: number, key: string, points: number, seconds: number, calls: number) => {
  const states: WindowState[] = [];
  for (let call = 0; call < calls; call += 1) {
    states.push((await windows[gateway]!.consume(key, points, seconds))!);
    await turn();
  }
  return states;
};

test('two gateways grant all points of a window and not one more, each with few commands', async () => {
  const key = newId('acct');
  const before = await commandsOf();
  const call = (gateway: number) => callInTurn(gateway, key, 1000, 600, 480);
  const states = (await Promise.all([call(0), call(1)])).flat();
  expect(states.every(({ passed }) => passed)).toBe(true);
  expect((await commandsOf()) - before).toBeLessThan(96);
  // What no call has used is returned with the end of the leases.
  await waitFor(
    () => usedPoints(key),
    (used) => used === 960,
  );

  const rest = await Promise.all([callInTurn(0, key, 1000, 600, 40), callInTurn(1, key, 1000, 600, 40)]);
  const passed = rest.flat().filter((state) => state.passed).length;
  // A gateway refuses while the other one holds the last points.
  expect(passed).toBeLessThanOrEqual(40);
  await waitFor(
    () => usedPoints(key),
    (used) => used === 960 + passed,
  );
  const last = await callInTurn(0, key, 1000, 600, 41 - passed);
  expect(last.map((state) => state.passed)).toEqual([...Array<boolean>(40 - passed).fill(true), false]);
});

test('in no window are more calls than points, although points are used later than they were leased', async () => {
  const key = newId('acct');
  const [points, seconds] = [100, 2];
  const passedAt: number[] = [];
  const call = async (gateway: number): Promise<boolean> => {
    const { passed } = (await windows[gateway]!.consume(key, points, seconds))!;
    if (passed) passedAt.push(performance.now());
    return passed;
  };
  // The leases grow by 1, 2, 4 and 5 points. Four of the last one are left.
  for (let nth = 0; nth < 8; nth += 1) await call(0);
  const leasedAt = performance.now();
  while (await call(1));
  expect(passedAt).toHaveLength(points - 4);
  await waitUntil(() => performance.now() > leasedAt + 800);
  for (let nth = 0; nth < 4; nth += 1) expect(await call(0)).toBe(true);
  await waitUntil(() => performance.now() > leasedAt + seconds * 1000 + 300);
  while (await call(1));
  await waitUntil(() => performance.now() > leasedAt + (seconds + 1) * 1000 + 300);
  while (await call(1));
  expect(passedAt.length).toBe(2 * points);
  // The answer of a command arrives later than its points were counted.
  const EARLIER_MS = 50;
  for (const [index, at] of passedAt.entries()) {
    const within = passedAt.slice(index).filter((time) => time - at < seconds * 1000 - EARLIER_MS);
    expect(within.length).toBeLessThanOrEqual(points);
  }
});

test('the remaining points fall by one with each call, and a rare caller gets single points', async () => {
  const key = newId('acct');
  const states = await callInTurn(0, key, 400, 600, 60);
  expect(states.map(({ remaining }) => remaining)).toEqual(
    Array.from({ length: 60 }, (_, index) => 399 - index),
  );
  expect(states.every(({ resetMs }) => resetMs > 590_000 && resetMs <= 601_000)).toBe(true);
  await waitFor(
    () => usedPoints(key),
    (used) => used === 60,
  );

  const rare = newId('acct');
  for (let call = 1; call <= 3; call += 1) {
    await windows[0]!.consume(rare, 400, 600);
    expect(await usedPoints(rare)).toBe(call);
    const calledAt = performance.now();
    await waitUntil(() => performance.now() > calledAt + 1050);
  }
});
