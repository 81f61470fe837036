import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { z } from 'zod';
import { createTestDatabase } from '../../test/support/servers/database.ts';
import type { TestDatabase } from '../../test/support/servers/database-handle.ts';
import { connectPool, type Db, type Pool, sql } from './pool.ts';
import { MOST_PREPARED } from './prepared.ts';

let database: TestDatabase;
let admin: pg.Client;
let pool: Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  admin = new pg.Client({ connectionString: database.adminUrl, options: '-c search_path=settlement,public' });
  await admin.connect();
  await admin.query('create table things (id int primary key, size int)');
  await admin.query(
    'grant all on things to public; insert into things select i, i from generate_series(1, 3) i',
  );
});
afterAll(async () => {
  await admin?.end();
  await database?.drop();
});
beforeEach(async () => {
  pool = await connectPool(database.url('settlement'), { max: 1 });
});
afterEach(() => pool?.end());

const Thing = z.object({ id: z.number(), size: z.union([z.number(), z.string()]) });
const thing = (db: Db, id: number) => db.one(sql.type(Thing)`select id, size from things where id = ${id}`);
const Known = z.object({ statement: z.string(), runs: z.bigint() });
/** The prepared statements about `things` of the pool's connection, and how often each ran. */
const prepared = async () =>
  (
    await pool.any(sql.type(Known)`
      select statement, generic_plans + custom_plans as runs from pg_prepared_statements
      where statement like '%from things%' and statement not like '%pg_prepared%'`)
  ).map(({ runs }) => Number(runs));

test('a statement is parsed once for all its runs, inside and outside a transaction', async () => {
  for (const id of [1, 2, 3]) await thing(pool, id);
  await pool.transaction((tx) => thing(tx, 1));
  expect(await prepared()).toEqual([4]);
});

test('a text whose length depends on a list does not create an unbounded number of statements', async () => {
  for (let length = 1; length <= MOST_PREPARED + 20; length += 1) {
    const ids = sql.join(
      Array.from({ length }, (_, id) => sql.fragment`${id}`),
      sql.fragment`, `,
    );
    await pool.any(sql.type(Thing)`select id, size from things where id in (${ids})`);
  }
  const some = await prepared();
  expect(some.length).toBeGreaterThan(MOST_PREPARED / 2);
  expect(some.length).toBeLessThanOrEqual(MOST_PREPARED);
  expect(await thing(pool, 2)).toEqual({ id: 2, size: 2 });
});

test('statements succeed after a migration that changes the type of a column, and after one that adds a column', async () => {
  expect(await thing(pool, 1)).toEqual({ id: 1, size: 1 });
  await admin.query('alter table things alter column size type text');
  expect(await thing(pool, 1)).toEqual({ id: 1, size: '1' });
  await admin.query('alter table things add column colour text');
  expect(await thing(pool, 1)).toEqual({ id: 1, size: '1' });
});

test('a migration during a transaction ends the transaction with its own error, and the next one succeeds', async () => {
  await thing(pool, 1);
  const failing = pool.transaction(async (tx) => {
    await tx.query(sql.typeAlias('void')`select 1`);
    await admin.query('alter table things alter column size type int using size::int');
    await thing(tx, 1);
  });
  await expect(failing).rejects.toThrow('cached plan must not change result type');
  expect(await pool.transaction((tx) => thing(tx, 1))).toEqual({ id: 1, size: 1 });
});

test('a statement that was prepared while its table was small uses the index and does not scan the table', async () => {
  // 60 rows on one page: for the planner, a scan of the page is the cheapest plan now.
  await admin.query(`create table small (id int primary key, size int); grant all on small to public;
    insert into small select i, i from generate_series(1, 60) i; analyze small`);
  const plan = await pool.anyFirst(sql.type(z.object({ 'QUERY PLAN': z.string() }))`
    explain select size from small where id = ${7}`);
  expect(plan[0]).toMatch(/^Index Scan/);
});

test('a new connection prepares its statements again, as after a restart of Postgres', async () => {
  await thing(pool, 1);
  const pid = await pool.oneFirst(sql.type(z.object({ pid: z.number() }))`select pg_backend_pid() as pid`);
  await admin.query('select pg_terminate_backend($1)', [pid]);
  // The first call on a lost connection fails. Then the pool opens a new one.
  const again = async (): Promise<z.infer<typeof Thing>> => thing(pool, 1).catch(again);
  expect(await again()).toEqual({ id: 1, size: 1 });
});
