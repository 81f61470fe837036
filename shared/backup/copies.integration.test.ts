import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { SERVICE_NAMES, type ServiceName } from '../contract/service.ts';
import { CHECKSUMS } from '../db/checksums.ts';
import { oneDatabase } from '../db/databases.ts';
import { migrateEnvironment } from '../db/migrate.ts';
import { roleName, schemaName } from '../db/names.ts';
import { Refusal } from '../lib/refusal.ts';
import { addCopy, folderOfCopy } from './copies.ts';
import { manifestOf } from './dump.ts';
import { restore } from './restore.ts';

const database = `quittance_${randomBytes(6).toString('hex')}`;
const owner = `${database}_owner`;
const password = randomBytes(12).toString('hex');
const url = (() => {
  const own = new URL(process.env.POSTGRES_URL!);
  own.pathname = `/${database}`;
  own.username = owner;
  own.password = password;
  return own.href;
})();
const admin = async (...statements: string[]) => {
  const client = new pg.Client({ connectionString: process.env.POSTGRES_URL! });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
};
const databases = oneDatabase(url);
let folder = '';

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'copies-'));
  await admin(
    `create role "${owner}" login createrole password '${password}'`,
    `create database "${database}" owner "${owner}"`,
  );
  const passwords = Object.fromEntries(SERVICE_NAMES.map((name) => [name, password]));
  await migrateEnvironment({ databases, passwords: passwords as Record<ServiceName, string> });
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await admin(
    `drop database "${database}" with (force)`,
    ...[...SERVICE_NAMES.map((name) => roleName(database, name)), owner].map((role) => `drop role "${role}"`),
  );
});

const at = (second: number) => new Date(Date.UTC(2026, 10, 23, 14, 30, second));

test('the owner of the database writes copies, and the given number of them remains', async () => {
  const partial = path.join(folder, '.partial-2026-11-20T14-30-00Z');
  mkdirSync(partial);
  utimesSync(partial, at(0), new Date(Date.now() - 2 * 86_400_000));
  mkdirSync(path.join(folder, 'lost+found'));
  mkdirSync(path.join(folder, '2026-11-19T00-00-00Z'));

  for (const second of [1, 2]) await addCopy(databases, folder, { keep: 2, now: at(second) });
  const third = await addCopy(databases, folder, { keep: 2, now: at(3) });
  expect(third).toMatchObject({
    copy: '2026-11-23T14-30-03Z',
    copies: ['2026-11-23T14-30-02Z', '2026-11-23T14-30-03Z'],
  });
  // What is not a complete copy is neither counted nor removed, unless it was abandoned.
  expect(readdirSync(folder).sort()).toEqual(['2026-11-19T00-00-00Z', ...third.copies, 'lost+found']);
  expect(manifestOf(folderOfCopy(folder, third.copy)).database).toBe(database);
});

test('a copy that fails leaves nothing behind and removes no older one', async () => {
  const before = readdirSync(folder);
  await admin(`alter role "${owner}" nologin`);
  try {
    await expect(addCopy(databases, folder, { keep: 1, now: at(9) })).rejects.toThrow(
      /not permitted to log in/,
    );
  } finally {
    await admin(`alter role "${owner}" login`);
  }
  expect(readdirSync(folder)).toEqual(before);
  await expect(addCopy(databases, path.join(folder, 'absent'), { keep: 1 })).rejects.toThrow(/absent/);
  expect(existsSync(path.join(folder, 'absent'))).toBe(false);
});

test('a copy is restored only over tables that the same files have made', async () => {
  const [copy] = readdirSync(folder).filter((name) => name.endsWith('-03Z'));
  const migration = 'services/quote/migrations/0001_initial.sql';
  const { migrations } = manifestOf(path.join(folder, copy!));
  expect(new Set(Object.keys(migrations))).toEqual(new Set(SERVICE_NAMES.map(schemaName)));
  expect(migrations.quote).toMatchObject({ [migration]: CHECKSUMS[migration] });

  const change = async (statement: string) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(statement);
    await client.end();
  };
  const restored = () =>
    restore(databases, path.join(folder, copy!), {
      rpcUrls: [],
      signed: { actor: 'jane', reason: 'ticket 1042' },
      print: () => {},
    });
  const is = (checksum: string) =>
    `update quote.migrations set checksum = '${checksum}' where name = '${migration}'`;
  await change(is('0'.repeat(64)));
  await expect(restored()).rejects.toThrow(new RegExp(`another file: quote: ${migration}$`));
  await change(is(CHECKSUMS[migration]!));
  await change("insert into quote.migrations values ('services/quote/migrations/0999_x.sql', 'ab', '9.0.0')");
  await expect(restored()).rejects.toThrow(/only here: quote: services\/quote\/migrations\/0999_x\.sql$/);
  await change("delete from quote.migrations where release = '9.0.0'");
});

test('a copy that does not exist is refused with the names of those that do', () => {
  for (const name of ['', '../etc', '2026-11-19T00-00-00Z'])
    expect(() => folderOfCopy(folder, name)).toThrow(
      new Refusal(
        `${folder} has no complete copy "${name}": name one of 2026-11-23T14-30-02Z, 2026-11-23T14-30-03Z`,
      ),
    );
});
