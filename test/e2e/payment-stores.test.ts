import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { PAYMENTS_TABLE, postgresPayments } from '../../examples/postgres-payments.ts';
import { redisPayments } from '../../examples/redis-payments.ts';
import { memoryStore, type PaymentRecord, type PaymentStore } from '../../sdk/src/pay/main.ts';
import { atOnce, runningStack } from '../support/servers/stack.ts';

/** The stores of buyers have the same guarantees, on the servers that they are for. */
const stack = runningStack();
const database = `payments_${crypto.randomUUID().slice(0, 8)}`;
const admin = new pg.Pool({ connectionString: stack.postgres_urls.settlement, max: 1 });
const url = new URL(stack.postgres_urls.settlement);
url.pathname = `/${database}`;
const pool = new pg.Pool({ connectionString: url.href, max: 4 });
const payer = `del_${crypto.randomUUID()}`;
const [redis, redisOfAnother] = [
  redisPayments(stack.redis_url, payer),
  redisPayments(stack.redis_url, 'del_2'),
];

beforeAll(async () => {
  await admin.query(`create database ${database}`);
  await pool.query(PAYMENTS_TABLE);
});
afterAll(async () => {
  await pool.end();
  await admin.query(`drop database ${database}`);
  await admin.end();
  redis.close();
  redisOfAnother.close();
});

const recordOf = (id: string, changes: Partial<PaymentRecord> = {}): PaymentRecord => ({
  id,
  fingerprint: 'f'.repeat(64),
  url: 'https://api.example.com/forecast?city=Köln',
  quoteToken: 'a.b',
  settlement: null,
  paidAt: null,
  ...changes,
});

const stores: [string, PaymentStore, PaymentStore][] = [
  ['memory', memoryStore(), memoryStore()],
  ['redis', redis, redisOfAnother],
  ['postgres', postgresPayments(pool, payer), postgresPayments(pool, 'del_2')],
];
describe.each(stores)('%s', (_, store, another) => {
  const named = () => `call:${crypto.randomUUID()}`;

  test('records of a name come back oldest first, and a record that is saved again keeps its place', async () => {
    const name = named();
    expect(await store.load(name)).toEqual([]);
    for (const id of ['c', 'a', 'b']) await store.save(name, recordOf(id));
    const paid = recordOf('c', { settlement: { settlement_id: 'stl_1', settlement_token: 't' }, paidAt: 5 });
    await store.save(name, paid);
    expect(await store.load(name)).toEqual([paid, recordOf('a'), recordOf('b')]);
    await store.remove(name, 'a');
    await store.remove(name, 'never saved');
    expect((await store.load(name)).map(({ id }) => id)).toEqual(['c', 'b']);
    expect(await store.load(`${name}x`)).toEqual([]);
    expect(await another.load(name)).toEqual([]);
  });

  test('a record comes back byte by byte, also the offer that a payment repeats, and under a long name', async () => {
    const name = `prepaid:https://api.example.com/${'ä'.repeat(5000)}`;
    const requirement = { z: '1', a: ['ü', 1.5, null], extra: { memo: ' two  spaces ' } };
    const external = { version: 2, requirement, resource: 'https://api.example.com/' } as never;
    const record = recordOf(crypto.randomUUID(), { external });
    await store.save(name, record);
    expect(JSON.stringify(await store.load(name))).toBe(JSON.stringify([record]));
    await store.remove(name, record.id);
    expect(await store.load(name)).toEqual([]);
  });

  test('of 32 concurrent writes none is lost', async () => {
    const name = named();
    await atOnce(32, async (i) => store.save(name, recordOf(String(i))));
    const ids = (await store.load(name)).map(({ id }) => Number(id));
    expect(ids.sort((a, b) => a - b)).toEqual(Array.from({ length: 32 }, (_, i) => i));
  });
});
