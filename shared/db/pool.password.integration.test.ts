import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase } from '../../test/support/servers/database.ts';
import type { TestDatabase } from '../../test/support/servers/database-handle.ts';
import { build } from '../lib/telemetry/version.ts';
import { connectPool, sql } from './pool.ts';

/**
 * A password of any characters, percent-encoded in the URL, as docs/deployment.md says. The role is
 * of this test, because roles belong to the whole server.
 */
const PASSWORDS = ['p@ss', 'p#ss', '100%', '%40', 'a/b:c?d', '[é ü]', "it's+1&x=y"] as const;
const role = `password_${process.pid}_${Date.now()}`;

let database: TestDatabase;
let admin: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  admin = new pg.Client({ connectionString: database.adminUrl });
  await admin.connect();
  await admin.query(`create role "${role}" login`);
  await admin.query(
    `grant connect on database "${new URL(database.adminUrl).pathname.slice(1)}" to "${role}"`,
  );
});
afterAll(async () => {
  await admin.query(`drop owned by "${role}"`);
  await admin.query(`drop role "${role}"`);
  await admin.end();
  await database.drop();
});

const urlWith = (password: string): string =>
  database.adminUrl.replace(/\/\/[^/]*@/, `//${role}:${encodeURIComponent(password)}@`);

const byPool = async (url: string): Promise<unknown> => {
  const pool = await connectPool(url, { max: 1, name: 'quote' });
  try {
    return await pool.oneFirst(sql.typeAlias('id')`
      select current_user || ', ' || current_setting('application_name') as id`);
  } finally {
    await pool.end();
  }
};
const byDriver = async (url: string): Promise<unknown> => {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    return (await client.query('select current_user::text as id')).rows[0].id;
  } finally {
    await client.end();
  }
};

test.each(PASSWORDS)('a service and the driver sign in with the password %s', async (password) => {
  await admin.query(`alter role "${role}" password ${pg.escapeLiteral(password)}`);
  const url = urlWith(password);
  expect([await byPool(url), await byDriver(url)]).toEqual([`${role}, quote ${build.version}`, role]);
  await expect(byDriver(urlWith(`${password}x`))).rejects.toThrow('password authentication failed');
});
