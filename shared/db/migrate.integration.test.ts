import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { SERVICE_NAMES, type ServiceName } from '../contract/service.ts';
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
