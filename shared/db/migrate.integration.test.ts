import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { SERVICE_NAMES, type ServiceName } from '../contract/service.ts';
import { Refusal } from '../lib/refusal.ts';
import { build } from '../lib/telemetry/version.ts';
import { oneDatabase } from './databases.ts';
import { migrateEnvironment } from './migrate.ts';
import { roleName, schemaName } from './names.ts';

/**
 * Migrated as in a cluster, by the owner of the database, who may create roles and is no superuser.
 * Each service's role has rights only on its own schema.
 */
const database = `quittance_${randomBytes(6).toString('hex')}`;
const owner = `${database}_owner`;
const password = randomBytes(12).toString('hex');
const passwords = Object.fromEntries(SERVICE_NAMES.map((name) => [name, password])) as Record<
  ServiceName,
  string
>;
const urlAs = (user: string): string => {
  const url = new URL(process.env.POSTGRES_URL!);
  url.pathname = `/${database}`;
  url.username = user;
  url.password = password;
  return url.href;
};
const query = async (url: string, statement: string) => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
};

beforeAll(async () => {
  await query(process.env.POSTGRES_URL!, `create role "${owner}" login createrole password '${password}'`);
  await query(process.env.POSTGRES_URL!, `create database "${database}" owner "${owner}"`);
  await migrateEnvironment({ databases: oneDatabase(urlAs(owner)), passwords });
});
afterAll(async () => {
  await query(process.env.POSTGRES_URL!, `drop database "${database}" with (force)`);
  for (const role of [...SERVICE_NAMES.map((name) => roleName(database, name)), owner])
    await query(process.env.POSTGRES_URL!, `drop role "${role}"`);
});

test('a repeated migration succeeds and sets the passwords again', async () => {
  const changed = { ...passwords, quote: 'another-password' };
  await migrateEnvironment({ databases: oneDatabase(urlAs(owner)), passwords: changed });
  await expect(query(urlAs(roleName(database, 'quote')), 'select')).rejects.toThrow(/password/);
  await migrateEnvironment({ databases: oneDatabase(urlAs(owner)), passwords });
  expect(await query(urlAs(roleName(database, 'quote')), 'select app_now() is not null as answered')).toEqual(
    [{ answered: true }],
  );
});

/** Everything that a migration may change: columns, functions, passwords. */
const contentOf = async () => [
  await query(
    urlAs(owner),
    'select table_schema, table_name, column_name, data_type from information_schema.columns order by 1, 2, 3',
  ),
  await query(urlAs(owner), 'select oid, xmin, proname from pg_proc order by oid'),
  await query(process.env.POSTGRES_URL!, 'select rolname, rolpassword from pg_authid order by 1'),
];
const run = async (report?: (line: string) => void) =>
  migrateEnvironment({
    databases: oneDatabase(urlAs(owner)),
    passwords: Object.fromEntries(SERVICE_NAMES.map((name) => [name, 'changed'])) as typeof passwords,
    ...(report && { report }),
  });
const FIRST = 'services/quote/migrations/0001_initial.sql';

test.each([
  [
    'a changed file',
    `update quote.migrations set checksum = 'ab12' where name = '${FIRST}'`,
    `quote: ${FIRST} is not the file that release ${build.version} has applied: use a build that has that file (SHA-256 ab12…)`,
  ],
  [
    'a migration that this build does not have',
    `update quote.migrations set name = 'services/quote/migrations/0000_x.sql' where name = '${FIRST}'`,
    'quote: services/quote/migrations/0000_x.sql was applied by release',
  ],
  [
    'tables of an unknown origin',
    'drop table quote.migrations; create table quote.migrations (name text)',
    'quote: the schema has tables, and no record of the migrations that made them',
  ],
  [
    'a later release that has migrated a part',
    `insert into quote.migrations values ('services/quote/migrations/0999_x.sql', 'ab', '9.0.0');
     delete from webhook.migrations where name = 'services/webhook/migrations/0001_initial.sql'`,
    'webhook: services/webhook/migrations/0001_initial.sql is not applied, but release 9.0.0 has applied services/quote/migrations/0999_x.sql to quote: migrate with a build of that release',
  ],
])('%s is refused in one line before anything is changed', async (_, change, refusal) => {
  const kept = ['quote', 'webhook'].map((name) => `create table ${name}_kept as table ${name}.migrations`);
  await query(urlAs(owner), `create schema kept; set search_path = kept; ${kept.join(';')}`);
  try {
    await query(urlAs(owner), change);
    const before = await contentOf();
    await expect(run()).rejects.toThrow(Refusal);
    await expect(run()).rejects.toThrow(refusal);
    expect(await contentOf()).toEqual(before);
  } finally {
    await query(
      urlAs(owner),
      `drop table quote.migrations; create table quote.migrations (like kept.quote_kept);
       alter table quote.migrations add primary key (name), alter applied_at set default now();
       insert into quote.migrations table kept.quote_kept;
       delete from webhook.migrations; insert into webhook.migrations table kept.webhook_kept; drop schema kept cascade`,
    );
  }
});

test('an older build changes nothing in a database of a later release, and says so', async () => {
  await query(
    urlAs(owner),
    "insert into quote.migrations values ('services/quote/migrations/0999_x.sql', 'ab', '9.0.0')",
  );
  const before = await contentOf();
  const lines: string[] = [];
  expect(await run((line) => lines.push(line))).toEqual([]);
  expect(lines).toEqual([
    `quote: services/quote/migrations/0999_x.sql was applied by release 9.0.0, which is later than this build (${build.version}): nothing was changed, and the services of this build may run`,
  ]);
  expect(await contentOf()).toEqual(before);
  await query(urlAs(owner), "delete from quote.migrations where release = '9.0.0'");
});

test('two at once take turns', async () => {
  const all = await Promise.all(
    [1, 2, 3].map(() => migrateEnvironment({ databases: oneDatabase(urlAs(owner)), passwords })),
  );
  expect(all).toEqual([[], [], []]);
});

test.each(SERVICE_NAMES)('%s has access to its own schema and to no other', async (service) => {
  const url = urlAs(roleName(database, service));
  expect(await query(url, 'select current_schema as schema')).toEqual([{ schema: schemaName(service) }]);
  expect(await query(url, 'select count(*)::int as rows from outbox')).toEqual([{ rows: 0 }]);
  for (const other of SERVICE_NAMES.filter((name) => name !== service)) {
    const table = `"${schemaName(other)}".outbox`;
    for (const statement of [
      `select * from ${table}`,
      `delete from ${table}`,
      `create table "${schemaName(other)}".mine ()`,
    ])
      await expect(query(url, statement)).rejects.toThrow(/permission denied for schema/);
    await expect(query(url, `set role "${roleName(database, other)}"`)).rejects.toThrow(/permission denied/);
  }
  for (const statement of [
    'create table public.mine ()',
    'create schema mine',
    'create role mine',
    `set role "${owner}"`,
  ])
    await expect(query(url, statement)).rejects.toThrow(/permission denied/);
});

test('each service may have a database of its own, with nothing of the others', async () => {
  const names = SERVICE_NAMES.map((service) => [service, `${database}_of_${schemaName(service)}`] as const);
  const urls = Object.fromEntries(
    names.map(([service, name]) => {
      const url = new URL(urlAs(owner));
      url.pathname = `/${name}`;
      return [service, url.href];
    }),
  ) as Record<ServiceName, string>;
  for (const [, name] of names)
    await query(process.env.POSTGRES_URL!, `create database "${name}" owner "${owner}"`);
  try {
    await migrateEnvironment({ databases: urls, passwords });
    for (const [service] of names) {
      const schemas = await query(
        urls[service],
        "select nspname as name from pg_namespace where nspname !~ '^(pg_|information_schema$|public$)'",
      );
      expect(schemas).toEqual([{ name: schemaName(service) }]);
    }
  } finally {
    for (const [service, name] of names) {
      await query(process.env.POSTGRES_URL!, `drop database if exists "${name}" with (force)`);
      await query(process.env.POSTGRES_URL!, `drop role if exists "${roleName(name, service)}"`);
    }
  }
});
