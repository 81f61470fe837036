import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import type { TestDatabase } from '../../test/support/servers/database-handle.ts';
import { migrateTestDatabase } from '../../test/support/servers/migrated-database.ts';
import { SERVICE_NAMES } from '../contract/service.ts';
import { MIGRATIONS_TABLE, schemaName } from './names.ts';

/**
 * An attacker with the database login of one service cannot read or change the records of another.
 */
let database: TestDatabase;
let other: TestDatabase;
const tables = new Map<string, string[]>();

const asking = async <T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};

const migrate = () => migrateTestDatabase(process.env.POSTGRES_URL!);
beforeAll(async () => {
  [database, other] = await Promise.all([migrate(), migrate()]);
  const { rows } = await asking(database.adminUrl, (client) =>
    client.query<{ schema: string; name: string }>(
      `select table_schema as schema, table_name as name from information_schema.tables
       where table_schema = any($1)`,
      [SERVICE_NAMES.map(schemaName)],
    ),
  );
  for (const { schema, name } of rows) tables.set(schema, [...(tables.get(schema) ?? []), name]);
});

afterAll(() => Promise.all([database?.drop(), other?.drop()]));

/**
 * The SQLSTATE of each statement, or `done` if it succeeded. Each runs in a transaction that is
 * rolled back.
 */
const tried = (url: string, statements: readonly string[]): Promise<Record<string, string>> =>
  asking(url, async (client) => {
    const answers: Record<string, string> = {};
    for (const statement of statements) {
      await client.query('begin');
      answers[statement] = await client.query(statement).then(
        () => 'done',
        ({ code }: { code: string }) => code,
      );
      await client.query('rollback');
    }
    return answers;
  });
const REFUSED = '42501'; // insufficient_privilege
const all = (statements: readonly string[], code: string) =>
  Object.fromEntries(statements.map((statement) => [statement, code]));

const AUDIT = 'operator_actions';
/** A service reads which migrations made its schema, and writes none. */
const ONLY_READ = [AUDIT, MIGRATIONS_TABLE];

test.each(SERVICE_NAMES)('%s reads and writes its own schema and no other', async (service) => {
  const allowed = tables
    .get(schemaName(service))!
    .flatMap((table) => [
      `select from ${schemaName(service)}.${table} limit 1`,
      ...(ONLY_READ.includes(table) ? [] : [`delete from ${schemaName(service)}.${table} where false`]),
    ]);
  expect(await tried(database.url(service), allowed)).toEqual(all(allowed, 'done'));

  const foreign = [...tables].filter(([schema]) => schema !== schemaName(service));
  expect(foreign).toHaveLength(SERVICE_NAMES.length - 1);
  const statements = foreign.flatMap(([schema, names]) => [
    ...names.flatMap((name) => [
      `select from ${schema}.${name} limit 1`,
      `delete from ${schema}.${name}`,
      `insert into ${schema}.${name} default values`,
      `truncate ${schema}.${name}`,
    ]),
    `create table ${schema}.mine (id int)`,
    `grant usage on schema ${schema} to public`,
    `drop schema ${schema} cascade`,
  ]);
  expect(await tried(database.url(service), statements)).toEqual(all(statements, REFUSED));
});

test.each(SERVICE_NAMES)('%s changes rows of its own schema, and never the schema', async (service) => {
  const schema = schemaName(service);
  const own = tables.get(schema)!;
  const statements = [
    ...own.flatMap((table) => [
      `drop table ${schema}.${table} cascade`,
      `truncate ${schema}.${table} cascade`,
      `alter table ${schema}.${table} rename to gone`,
      `alter table ${schema}.${table} add column mine text`,
      `alter table ${schema}.${table} disable trigger all`,
      `alter table ${schema}.${table} owner to current_user`,
      `create index mine on ${schema}.${table} ((1))`,
    ]),
    `update ${schema}.${MIGRATIONS_TABLE} set checksum = ''`,
    `delete from ${schema}.${MIGRATIONS_TABLE}`,
    `insert into ${schema}.${MIGRATIONS_TABLE} default values`,
    `create table ${schema}.mine (id int)`,
    `create temporary table mine (id int)`,
    `create view ${schema}.mine as select 1`,
    `create function ${schema}.mine() returns int language sql as 'select 1'`,
    `create or replace function ${schema}.chain_operator_action() returns trigger language plpgsql as 'begin return new; end'`,
    `drop function ${schema}.chain_operator_action() cascade`,
    `alter schema ${schema} owner to current_user`,
    `alter schema ${schema} rename to mine`,
    `drop schema ${schema} cascade`,
  ];
  expect(await tried(database.url(service), statements)).toEqual(all(statements, REFUSED));
});

test.each(SERVICE_NAMES)('%s adds actions of operators, and changes none', async (service) => {
  const table = `${schemaName(service)}.${AUDIT}`;
  const values = `'jane', 'intake.pause', 'intake', 'ticket 1042', '{}', '{}'`;
  const added = [`insert into ${table} (actor, action, target, reason, before, after) values (${values})`];
  expect(await tried(database.url(service), added)).toEqual(all(added, 'done'));
  const statements = [
    `update ${table} set actor = 'nobody'`,
    `delete from ${table}`,
    // The time, the place and the hashes are not the service's to choose.
    `insert into ${table} (at, actor, action, target, reason, before, after) values (now(), ${values})`,
    `insert into ${table} (action_id, actor, action, target, reason, before, after) values (7, ${values})`,
    `insert into ${table} (previous_hash, hash, actor, action, target, reason, before, after) values ('', '', ${values})`,
  ];
  expect(await tried(database.url(service), statements)).toEqual(all(statements, REFUSED));
});

test.each(SERVICE_NAMES)('%s changes neither the clock, nor roles, nor the server', async (service) => {
  const [neighbour] = SERVICE_NAMES.filter((name) => name !== service);
  const role = new URL(database.url(neighbour!)).username;
  const statements = [
    `create or replace function public.app_now() returns timestamptz language sql as 'select now()'`,
    'create table public.mine (id int)',
    'create schema mine',
    'create role mine superuser',
    `alter role "${role}" password 'mine'`,
    `set role "${role}"`,
    `set session authorization "${role}"`,
    'create database mine',
    'alter system set fsync = off',
    `select pg_read_file('/etc/passwd')`,
    `copy (select 1) to program 'true'`,
    'create extension dblink',
  ];
  const answers = await tried(database.url(service), statements);
  // No role may run these in a transaction, so they are also tried below without one.
  for (const statement of ['create database mine', 'alter system set fsync = off']) {
    expect(answers[statement]).toBe('25001');
    await expect(asking(database.url(service), (client) => client.query(statement))).rejects.toMatchObject({
      code: REFUSED,
    });
    delete answers[statement];
  }
  expect(answers).toEqual(all(Object.keys(answers), REFUSED));
});

test('a role of one environment cannot connect to the database of another', async () => {
  for (const service of SERVICE_NAMES) {
    const url = new URL(database.url(service));
    url.pathname = new URL(other.adminUrl).pathname;
    await expect(asking(url.href, (client) => client.query('select 1'))).rejects.toMatchObject({
      code: REFUSED,
    });
  }
});
