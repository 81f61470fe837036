import { afterEach, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import pg from 'pg';
import { ask, startGateHarness } from '../../../test/support/fixtures/gate.ts';
import { createTestDatabase } from '../../../test/support/servers/database.ts';
import { openStore } from '../ground/stores.ts';
import type { Settings } from '../settings/settings.ts';

/** The free calls of gates that share a store. */
const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

/** Each run has a route of its own, because the servers are shared. */
const newPath = () => `/report-${crypto.randomUUID().slice(0, 8)}`;
const startGate = async (storeUrl: string, path: string) => {
  const routes: Settings['routes'] = [
    { match: `GET ${path}`, paid: { price: '50000' }, free: { calls: 5, per: 'month', by: 'x-api-key' } },
  ];
  let isDown = false;
  const harness = await startGateHarness(
    (_request, response) => response.writeHead(isDown ? 500 : 200).end(),
    {
      storeUrl,
      routes,
    },
  );
  stops.push(harness.stop);
  const call = async (name: string) =>
    (await ask(`${harness.url}${path}`, { headers: { 'x-api-key': name } })).answer.statusCode;
  return {
    ...harness,
    call,
    break: (isBroken: boolean) => {
      isDown = isBroken;
    },
  };
};

const redisKeys = async (): Promise<string[]> => {
  const redis = new Redis(process.env.REDIS_URL!);
  const keys = await redis.keys('*gate:free:*');
  for (const key of keys) expect(await redis.pttl(key)).toBeGreaterThan(0);
  redis.disconnect();
  return keys;
};
const postgresKeys = async (url: string): Promise<string[]> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(
    "select key from paywall where key like 'gate:free:%' and ends_at < now() + interval '32 days'",
  );
  await client.end();
  return rows.map(({ key }) => key);
};

type Store = { url: string; keys: () => Promise<string[]> };
const STORES: [string, () => Promise<Store>][] = [
  ['Redis', async () => ({ url: process.env.REDIS_URL!, keys: redisKeys })],
  [
    'Postgres',
    async () => {
      const { adminUrl, drop } = await createTestDatabase();
      stops.push(drop);
      return { url: adminUrl, keys: () => postgresKeys(adminUrl) };
    },
  ],
];

describe.each(STORES)('in %s', (_name, open) => {
  test('two gates count together, also at the same time, and give back', async () => {
    const { url, keys } = await open();
    const path = newPath();
    const [one, other] = [await startGate(url, path), await startGate(url, path)];
    const statuses = await Promise.all(
      Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? one : other).call('a-secret-key')),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(5);
    expect(statuses.filter((status) => status === 402)).toHaveLength(15);

    one.break(true);
    for (let times = 0; times < 6; times += 1) expect(await one.call('another')).toBe(500);
    one.break(false);
    const again = [];
    for (let times = 0; times < 6; times += 1)
      again.push(await (times % 2 === 0 ? one : other).call('another'));
    expect(again).toEqual([200, 200, 200, 200, 200, 402]);

    // All of them find no number, and each may be the one that begins it.
    const { counters, close } = await openStore(url, () => undefined);
    const key = `gate:free:${crypto.randomUUID()}`;
    const left = await Promise.all(Array.from({ length: 20 }, () => counters.take(key, 5, 60_000)));
    expect(left.flatMap((each) => each ?? []).sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4]);
    await close();

    const found = await keys();
    expect(found.length).toBeGreaterThan(0);
    expect(found.filter((key) => /secret|another|report/.test(key))).toEqual([]);
  });
});

test('while the store does not answer, every call gets its price', async () => {
  const database = await createTestDatabase();
  const gate = await startGate(database.adminUrl, newPath());
  expect(await gate.call('a')).toBe(200);
  await database.drop();
  expect(await gate.call('a')).not.toBe(200);
  expect(gate.lines.some(({ message }) => message === 'the store reports an error')).toBe(true);
});
