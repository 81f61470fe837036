import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { inherited } from '../test/support/base/inherited.ts';
import { createTestDatabase } from '../test/support/servers/database.ts';
import type { TestDatabase } from '../test/support/servers/database-handle.ts';
import { newNkeySeed } from './bus/nkey.ts';
import { SERVICE_NAMES } from './contract/service.ts';
import { connectPool } from './db/pool.ts';
import { unfitSchema } from './db/schema-check.ts';

/** A service does not start on a schema that its build does not fit. */
let database: TestDatabase;
let admin: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  admin = new pg.Client({ connectionString: database.adminUrl });
  await admin.connect();
});
afterAll(async () => {
  await admin.end();
  await database.drop();
});

const OWN = "name = 'services/wallet/migrations/0001_initial.sql'";

test.each([
  [
    'a migration that is not applied',
    `delete from wallet.migrations where ${OWN}`,
    /^wallet: services\/wallet\/migrations\/0001_initial\.sql is not applied: run the job migrate of this build/,
  ],
  [
    'another file of a migration',
    `update wallet.migrations set checksum = 'ab12' where ${OWN}`,
    /^wallet: services\/wallet\/migrations\/0001_initial\.sql is not the file that release \S+ has applied/,
  ],
  [
    'tables of before this record',
    'alter table wallet.migrations rename to kept',
    /^wallet: shared\/db\/migrations\/0001_initial\.sql is not applied: run the job migrate/,
  ],
])('%s: the process logs one line and ends with 78', async (_, change, line) => {
  await admin.query(
    'create schema if not exists kept; create table kept.migrations as table wallet.migrations',
  );
  await admin.query(change);
  try {
    const child = spawn(process.execPath, [path.join(import.meta.dirname, '../services/wallet/main.ts')], {
      env: {
        ...inherited,
        ENVIRONMENT: 'test',
        HTTP_HOST: '127.0.0.1',
        HTTP_PORT: '0',
        // No server: the bus is not needed to find it.
        NATS_URL: 'nats://127.0.0.1:9',
        NATS_NKEY_SEED: newNkeySeed(),
        POSTGRES_URL: database.url('wallet'),
        CURSOR_KEY: randomBytes(32).toString('base64url'),
        LOG_LEVEL: 'error',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      // One that runs on would stay behind.
      timeout: 20_000,
      killSignal: 'SIGKILL',
    });
    const [out, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    expect(code).toBe(78);
    const lines = out.trim().split('\n');
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0]!)).toMatchObject({
      level: 60,
      service: 'wallet',
      msg: expect.stringMatching(line),
    });
  } finally {
    await admin.query(
      `alter table if exists wallet.kept rename to migrations; delete from wallet.migrations;
       insert into wallet.migrations table kept.migrations; drop table kept.migrations`,
    );
  }
});

test('each service runs on its schema, also after a later release has migrated it', async () => {
  for (const service of SERVICE_NAMES) {
    const pool = await connectPool(database.url(service), { max: 1 });
    try {
      expect(await unfitSchema(pool, service)).toBeUndefined();
      const schema = service.replaceAll('-', '_');
      await admin.query(
        `insert into ${schema}.migrations values ('services/${service}/migrations/0999_later.sql', 'ab', '9.0.0')`,
      );
      expect(await unfitSchema(pool, service)).toBeUndefined();
    } finally {
      await pool.end();
    }
  }
});
