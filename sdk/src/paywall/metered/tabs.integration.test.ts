import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { postgresStore, TABLE } from '../../../../examples/postgres-store.ts';
import { redisStore } from '../../../../examples/redis-store.ts';
import { staysFor, waitUntil } from '../../../../test/support/base/wait.ts';
import { createTestDatabase } from '../../../../test/support/servers/database.ts';
import {
  at,
  PUBLIC_URL,
  startVendorApi,
  type VendorApi,
} from '../../../../test/support/stand-ins/vendor-api.ts';
import type { MeteredRoute, PaywallStore } from '../main.ts';

/** Tabs that two replicas of one store serve, and one of them ends. */
const RESOURCE = `${PUBLIC_URL}/chat`;
const stores: Record<string, PaywallStore> = {};
const stops: (() => unknown)[] = [];
beforeAll(async () => {
  const database = await createTestDatabase();
  const pool = new pg.Pool({ connectionString: database.adminUrl, max: 8 });
  await pool.query(TABLE);
  const redis = redisStore(process.env.REDIS_URL!);
  Object.assign(stores, { redis, postgres: postgresStore(pool) });
  stops.push(
    database.drop,
    () => pool.end(),
    () => redis.close(),
  );
});
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
});

let api: VendorApi;
beforeEach(async () => {
  api = await startVendorApi();
});
afterEach(() => api.stop());

const calls = (name: string) => api.calls().filter((call) => call === name).length;
const CENT: MeteredRoute<Request> = { max: '$1', price: '$0.01', tab: true };
const open = (max = 1_000_000n) => api.authorize({ resource: RESOURCE, tab: true }, max);

/** A replica of the vendor. Its store and its clock end when it dies. */
const replica = (
  store: PaywallStore,
  route: MeteredRoute<Request> = CENT,
  handler: () => Response | Promise<Response> = () => Response.json({}),
) => {
  let isDead = false;
  const alive = <T>(run: () => T): T => {
    if (isDead) throw new Error('the replica is dead');
    return run();
  };
  const own: PaywallStore = {
    get: (key) => alive(() => store.get(key)),
    compareAndSet: (...input) => alive(() => store.compareAndSet(...input)),
    take: (...input) => alive(() => store.take!(...input)),
  };
  const serve = api.paywall({ store: own }).metered(route, handler);
  return {
    ask: async (headers: Record<string, string>, id: string) =>
      (await serve(at('/chat', { ...headers, 'x-payment-request-id': id }))).text(),
    /** @returns waits until the replica reads again what was reported */
    close: async (headers: Record<string, string>) => {
      expect((await serve(at('/chat', { ...headers, 'x-tab-close': 'true' }))).status).toBe(202);
      const read = calls('verify');
      return () => waitUntil(() => calls('verify') > read);
    },
    die: () => {
      isDead = true;
    },
  };
};

const LIMITED = { status: 429, body: { error: { code: 'rate_limited', message: 'wait' } }, retryAfter: 1 };
/** The API answers reports of use with 429 while this holds. */
const limitReports = (isLimited: (n: number) => boolean): void => {
  let reports = 0;
  api.faults.push(({ call }) => {
    if (!call.endsWith('/usage')) return null;
    reports += 1;
    return isLimited(reports) ? LIMITED : null;
  });
};

type Handler = () => Response | Promise<Response>;
const pair = (name: string, route?: MeteredRoute<Request>, handler?: Handler) =>
  [replica(stores[name]!, route, handler), replica(stores[name]!, route, handler)] as const;

describe.each(['redis', 'postgres'])('with %s', (name) => {
  test('a tab that one replica ends waits for the use that the other one cannot report yet', async () => {
    const [one, other] = pair(name);
    const { headers, held } = open();
    let isLimited = true;
    limitReports(() => isLimited);
    for (let call = 0; call < 90; call += 1) await other.ask(headers, `${call}`);
    const reading = await one.close(headers);
    // It finds the other one's mark.
    await reading();
    expect([held.used, held.status, calls('void'), calls('capture')]).toEqual([0n, 'authorized', 0, 0]);
    isLimited = false;
    await waitUntil(() => held.status !== 'authorized');
    expect([held.status, held.captured, calls('void')]).toEqual(['captured', 900_000n, 0]);
  });

  test('a call that ends after its tab was closed gives back what it has not used', async () => {
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const route: MeteredRoute<Request> = { max: '$1', tab: { perCall: '$0.50' }, price: () => '500' };
    const [one, other] = pair(name, route, () => ended.then(() => Response.json({})));
    const { headers, held } = open();
    const asked = other.ask(headers, 'a');
    await waitUntil(
      async () => (await stores[name]!.get(`quittance:${headers['x-settlement-id']}:left`)) === '500000',
    );
    const reading = await one.close(headers);
    await reading();
    expect(held.status).toBe('authorized');
    end();
    await asked;
    await waitUntil(() => held.status === 'voided');
    expect(held.used).toBe(500n);
  });
});

test('what is delivered at the limit of reports is captured', async () => {
  const replicas = pair('redis', { ...CENT, max: '$0.05' });
  limitReports((n) => n % 3 !== 0);
  const tabs = Array.from({ length: 8 }, () => open(50_000n));
  await Promise.all(
    tabs.map(async ({ headers }, tab) => {
      for (let call = 0; call < 4; call += 1)
        await replicas[(tab + call) % 2]!.ask(headers, `${tab}-${call}`);
      await replicas[tab % 2]!.close(headers);
    }),
  );
  await waitUntil(() => tabs.every(({ held }) => held.status !== 'authorized'));
  expect(tabs.map(({ held }) => held.captured)).toEqual(Array(8).fill(40_000n));
});

test('a tab of which nothing was taken is released, and one whose use is below the fee, too', async () => {
  const [one, other] = pair('redis', { ...CENT, price: '$0.0005' });
  const [unused, small] = [open(), open()];
  await one.close(unused.headers);
  await waitUntil(() => unused.held.status === 'voided');
  expect(calls('capture')).toBe(0);
  await other.ask(small.headers, 'a');
  await one.close(small.headers);
  await waitUntil(() => small.held.status === 'voided');
  expect(small.held.used).toBe(500n);
});

test('the use that a replica has not reported when it dies is lost, and nothing else', async () => {
  const [one, other] = pair('redis');
  const { headers, held } = open();
  for (const id of ['a', 'b']) await one.ask(headers, id);
  await waitUntil(() => held.used === 20_000n);
  limitReports(() => true);
  await other.ask(headers, 'c');
  other.die();
  await one.close(headers);
  await waitUntil(() => held.status !== 'authorized');
  expect([held.status, held.captured]).toEqual(['captured', 20_000n]);
});

test('a tab whose use may not be reported is not released: it ends with its window', async () => {
  const [one, other] = pair('redis');
  const { headers, held } = open();
  limitReports(() => true);
  await other.ask(headers, 'a');
  other.die();
  const reading = await one.close(headers);
  await reading();
  await staysFor(
    500,
    () => [held.status, calls('capture'), calls('void')].join(' '),
    (state) => state === 'authorized 1 0',
  );
});
