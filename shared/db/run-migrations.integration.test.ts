import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { build } from '../lib/telemetry/version.ts';
import { examine, type Runnable, runMigrations, takeTurn } from './run-migrations.ts';

/** Migrations in a schema of their own, beside a service that has locks on its tables. */
const database = `quittance_${randomBytes(6).toString('hex')}`;
const schema = 'trial';
const onServer = async (statement: string) => {
  const client = new pg.Client({ connectionString: process.env.POSTGRES_URL });
  await client.connect();
  await client.query(statement);
  await client.end();
};
const connected = async (): Promise<pg.Client> => {
  const url = new URL(process.env.POSTGRES_URL!);
  url.pathname = `/${database}`;
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  return client;
};
let admin: pg.Client;
let service: pg.Client;

beforeAll(async () => {
  await onServer(`create database "${database}"`);
  [admin, service] = await Promise.all([connected(), connected()]);
});
afterAll(async () => {
  await Promise.all([admin.end(), service.end()]);
  await onServer(`drop database "${database}" with (force)`);
});

const file = (number: number, text: string): Runnable => ({
  name: `services/trial/migrations/000${number}_x.sql`,
  checksum: createHash('sha256').update(text).digest('hex'),
  text,
});
const FIRST = file(1, 'create table t (id bigint primary key, note text);');
/** Runs what is pending of these files. @returns what the operator is lines */
const migrate = async (...files: Runnable[]): Promise<string[]> => {
  const lines: string[] = [];
  const { pending } = await examine(admin, schema, files);
  await runMigrations(admin, schema, pending, (line) => lines.push(line));
  return lines;
};
const rows = async (statement: string) => (await admin.query(statement)).rows;

beforeEach(async () => {
  await admin.query(
    `rollback; reset search_path; drop schema if exists ${schema} cascade; create schema ${schema}`,
  );
  await migrate(FIRST);
});

test('each migration runs once, and is recorded with checksum, release and time', async () => {
  await migrate(FIRST);
  await migrate(FIRST, file(2, 'alter table t add column more text;'));
  expect(
    await rows(
      `select name, checksum, release, applied_at <= now() as at from ${schema}.migrations order by name`,
    ),
  ).toEqual([
    { name: FIRST.name, checksum: FIRST.checksum, release: build.version, at: true },
    expect.objectContaining({ name: 'services/trial/migrations/0002_x.sql', release: build.version }),
  ]);
});

test('a file that fails changes nothing and is named, and the ones before it stay', async () => {
  const good = file(2, 'alter table t add column more text;');
  const bad = file(3, 'alter table t add column third text; alter table absent add column x text;');
  await expect(migrate(FIRST, good, bad)).rejects.toThrow(
    'trial: services/trial/migrations/0003_x.sql: relation "absent" does not exist',
  );
  const columns = await rows(
    `select column_name as name from information_schema.columns where table_name = 't'`,
  );
  expect(columns.map(({ name }) => name).sort()).toEqual(['id', 'more', 'note']);
  expect(await rows(`select count(*)::int as n from ${schema}.migrations`)).toEqual([{ n: 2 }]);
});

test('it waits for a lock for half a second, lets the others pass, and tries again', async () => {
  await service.query(`begin; select from ${schema}.t`);
  const migrating = migrate(FIRST, file(2, 'alter table t add column more text;'));
  const other = await connected();
  let longest = 0;
  try {
    for (const endsAt = Date.now() + 2500; Date.now() < endsAt; ) {
      const startedAt = performance.now();
      await other.query(`select from ${schema}.t`);
      longest = Math.max(longest, performance.now() - startedAt);
    }
    await service.query('commit');
    expect(await migrating).toEqual([
      'trial: services/trial/migrations/0002_x.sql: waits for a lock, attempt 1 of 240',
    ]);
  } finally {
    await other.end();
  }
  // It waited, so the reads behind it waited as well, and not for as long as the transaction.
  expect(longest).toBeGreaterThan(300);
  expect(longest).toBeLessThan(1500);
});

test('an index is built beside writes, and what an interrupted build left is built anew', async () => {
  const text = '-- no transaction\ncreate unique index concurrently if not exists t_by_note on t (note);';
  await admin.query(`insert into ${schema}.t values (1, 'same'), (2, 'same')`);
  await expect(migrate(FIRST, file(2, text))).rejects.toThrow(/could not create unique index "t_by_note"/);
  const valid = `select indisvalid as valid from pg_index where indexrelid = to_regclass('${schema}.t_by_note')`;
  expect(await rows(valid)).toEqual([{ valid: false }]);
  await admin.query(`update ${schema}.t set note = 'other' where id = 2`);
  expect(await migrate(FIRST, file(2, text))).toEqual([
    'trial: services/trial/migrations/0002_x.sql: runs beside the services and may take long',
  ]);
  expect(await rows(valid)).toEqual([{ valid: true }]);
});

test('an index is built while another migration waits for its turn', async () => {
  const other = await connected();
  const waits: string[] = [];
  try {
    await takeTurn(admin, () => {});
    const turn = takeTurn(other, (line) => waits.push(line));
    await migrate(
      FIRST,
      file(2, '-- no transaction\ncreate index concurrently if not exists t_by_note on t (note);'),
    );
    expect(waits).toEqual(['waits for another migration']);
    await admin.query('select pg_advisory_unlock_all()');
    await turn;
  } finally {
    await other.end();
  }
});

test('a crash before the record of an index runs it again without an error', async () => {
  const index = file(2, '-- no transaction\ncreate index concurrently if not exists t_by_note on t (note);');
  await migrate(FIRST, index);
  await admin.query(`delete from ${schema}.migrations where name = $1`, [index.name]);
  await migrate(FIRST, index);
  expect(await rows(`select count(*)::int as n from ${schema}.migrations`)).toEqual([{ n: 2 }]);
});

test('rows are filled in batches, each committed by itself', async () => {
  await admin.query(`insert into ${schema}.t select i from generate_series(1, 2500) as i`);
  const batches = file(
    2,
    `-- in batches
     with batch as (
       select id from t where id > coalesce(nullif($1, ''), '0')::bigint order by id limit 1000
     ), changed as (
       update t set note = txid_current()::text where id in (select id from batch) and note is null
     )
     select max(id) from batch;`,
  );
  await migrate(FIRST, batches);
  expect(await rows(`select count(*)::int as n from ${schema}.t group by note order by 1 desc`)).toEqual([
    { n: 1000 },
    { n: 1000 },
    { n: 500 },
  ]);
});

test('batches that do not come forward end with an error', async () => {
  await expect(
    migrate(FIRST, file(2, `-- in batches\nselect coalesce(nullif($1, ''), 'same')`)),
  ).rejects.toThrow('trial: services/trial/migrations/0002_x.sql: two batches end with same');
});

test('tables without a record of their migrations are of an unknown origin', async () => {
  await admin.query(`drop table ${schema}.migrations`);
  await expect(migrate(FIRST)).rejects.toThrow(
    'trial: the schema has tables, and no record of the migrations that made them: use an empty database, or the build that made these tables',
  );
  // As the builds before this record had it.
  await admin.query(`create table ${schema}.migrations (id serial, name text, run_on timestamp)`);
  await expect(migrate(FIRST)).rejects.toThrow(/no record of the migrations/);
});
