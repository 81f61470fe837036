import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { postgresStore, TABLE } from '../../examples/postgres-store.ts';
import { redisStore } from '../../examples/redis-store.ts';
import type { StoreEntry } from '../../sdk/src/paywall/base/store.ts';
import { memoryStore, type PaywallStore } from '../../sdk/src/paywall/main.ts';
import { createCeilings } from '../../sdk/src/paywall/metered/ceilings.ts';
import { atOnce, runningStack } from '../support/servers/stack.ts';

/** The stores of the paywall have the same guarantees, on the servers that they are for. */
const stack = runningStack();
const database = `paywall_${crypto.randomUUID().slice(0, 8)}`;
const admin = new pg.Pool({ connectionString: stack.postgres_urls.settlement, max: 1 });
const url = new URL(stack.postgres_urls.settlement);
url.pathname = `/${database}`;
const pool = new pg.Pool({ connectionString: url.href, max: 4 });
const redis = redisStore(stack.redis_url);

beforeAll(async () => {
  await admin.query(`create database ${database}`);
  await pool.query(TABLE);
});
afterAll(async () => {
  await pool.end();
  await admin.query(`drop database ${database}`);
  await admin.end();
  redis.close();
});

const stores: [string, PaywallStore][] = [
  ['memory', memoryStore()],
  ['redis', redis],
  ['postgres', postgresStore(pool)],
];
describe.each(stores)('%s', (_, store) => {
  const key = () => `key:${crypto.randomUUID()}`;

  test('a store overwrites only the expected value, an absent one included, and deletes it', async () => {
    const at = key();
    expect(await store.get(at)).toBeNull();
    expect(await store.compareAndSet(at, 'a', 'b', 60_000)).toBe(false);
    expect(await store.compareAndSet(at, 'a', null, 0)).toBe(false);
    expect(await store.compareAndSet(at, null, 'a', 60_000)).toBe(true);
    expect(await store.compareAndSet(at, null, 'b', 60_000)).toBe(false);
    expect(await store.compareAndSet(at, 'b', null, 0)).toBe(false);
    expect(await store.compareAndSet(at, 'a', 'ü'.repeat(1000), 60_000.5)).toBe(true);
    expect(await store.get(at)).toBe('ü'.repeat(1000));
    expect(await store.compareAndSet(at, 'ü'.repeat(1000), null, 0)).toBe(true);
    expect(await store.get(at)).toBeNull();
  });

  test('of 32 concurrent writes one succeeds, also over an expired value', async () => {
    const at = key();
    expect(await store.compareAndSet(at, null, 'old', 1)).toBe(true);
    while ((await store.get(at)) !== null) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await store.compareAndSet(at, 'old', 'new', 60_000)).toBe(false);
    const won = await atOnce(32, async (i) => store.compareAndSet(at, null, `new ${i}`, 60_000));
    expect(won.filter(Boolean)).toHaveLength(1);
    expect(await store.get(at)).toBe(`new ${won.indexOf(true)}`);
  });

  const entries = (...keys: string[]) =>
    keys.map((at) => ({ key: at, value: `value of ${at}`, ttlMs: 60_000 }));

  test('a number is counted down and entries are written at once, or neither', async () => {
    const [counter, one, two, three] = [key(), key(), key(), key()];
    const take = (at: string, written: StoreEntry[]) => store.take!(at, 1n, written);
    expect(await take(counter, entries(one, two))).toBe('empty');
    expect(await store.get(one)).toBeNull();
    expect(await store.compareAndSet(counter, null, '2', 60_000)).toBe(true);
    expect(await take(counter, entries(one, two))).toBe(1n);
    expect([await store.get(one), await store.get(two)]).toEqual([`value of ${one}`, `value of ${two}`]);
    expect(await take(counter, entries(three, two))).toBe('held');
    expect([await store.get(three), await store.get(counter)]).toEqual([null, '1']);
    expect(await take(counter, entries(three))).toBe(0n);
    expect(await take(counter, entries(key()))).toBe('empty');
    expect(await take(counter, entries(one))).toBe('held');
    // An expired entry counts as absent, and the number keeps its expiry.
    const brief = key();
    expect(await store.compareAndSet(counter, '0', '1', 60_000)).toBe(true);
    expect(await store.compareAndSet(brief, null, 'old', 1)).toBe(true);
    while ((await store.get(brief)) !== null) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await take(counter, entries(brief))).toBe(0n);
    expect(await store.get(brief)).toBe(`value of ${brief}`);
  });

  test('an amount is taken or given back, and a number below 0 stays closed', async () => {
    const [counter, one] = [key(), key()];
    expect(await store.take!(counter, -5n, [])).toBe('empty');
    expect(await store.get(counter)).toBeNull();
    await store.compareAndSet(counter, null, '9007199254740991', 60_000);
    expect(await store.take!(counter, 9_007_199_254_740_000n, entries(one))).toBe(991n);
    expect(await store.take!(counter, 992n, [])).toBe('empty');
    expect(await store.take!(counter, -9n, [])).toBe(1000n);
    expect(await store.take!(counter, 1000n, [])).toBe(0n);
    expect(await store.compareAndSet(counter, '0', '-1', 60_000)).toBe(true);
    for (const amount of [-5n, 0n, 1n]) expect(await store.take!(counter, amount, [])).toBe('empty');
    expect(await store.get(counter)).toBe('-1');
  });

  test('of 32 concurrent counts of 10 units 10 succeed, with one key of an entry each', async () => {
    const counter = key();
    await store.compareAndSet(counter, null, '10', 60_000);
    // Each key is asked for twice.
    const keys = Array.from({ length: 16 }, key);
    const counted = await atOnce(32, async (i) => store.take!(counter, 1n, entries(keys[i % 16]!)));
    const lefts = counted.filter((left) => typeof left === 'bigint').map(Number);
    expect(lefts.sort((one, other) => one - other)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const written = await Promise.all(keys.map(async (at) => store.get(at)));
    expect(written.filter((value) => value !== null)).toHaveLength(10);
    expect(await store.get(counter)).toBe('0');
  });

  test('an extension of a tab counts once, however many replicas see it', async () => {
    const tab = key();
    const counterOf = (of: string) => `${of}:left`;
    const replicas = Array.from({ length: 8 }, () => createCeilings(store, counterOf));
    const state = { left: '300', ceiling: 1000n };
    await atOnce(16, (i) => replicas[i % 8]!.fill(tab, state, 60_000));
    expect(await store.get(counterOf(tab))).toBe('300');
    for (const [from, to] of [
      [1000n, 1500n],
      [1500n, 1600n],
    ] as const)
      await atOnce(16, (i) => replicas[i % 8]!.extend(tab, from, to, 60_000));
    // A replica that has read the last ceiling before another one counted it.
    await replicas[0]!.extend(tab, 1000n, 1600n, 60_000);
    expect(await replicas[7]!.read(tab)).toEqual({ ceiling: 1600n, extensions: 2 });
    expect(await store.take!(counterOf(tab), 100n, [])).toBe(800n);
    // A tab that is closed stays closed.
    expect(await store.compareAndSet(counterOf(tab), '800', '-1', 60_000)).toBe(true);
    await replicas[0]!.extend(tab, 1600n, 2000n, 60_000);
    expect(await store.get(counterOf(tab))).toBe('-1');
  });
});
