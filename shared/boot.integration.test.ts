import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { createSupervisor, type Supervisor } from '../deploy/local/processes/supervisor.ts';
import { natsServer } from '../deploy/local/servers/nats-server.ts';
import { createPortPicker } from '../deploy/local/servers/ports.ts';
import { inherited } from '../test/support/base/inherited.ts';
import { atSuiteClock } from '../test/support/base/suite-clock.ts';
import { waitFor } from '../test/support/base/wait.ts';
import { createTestDatabase } from '../test/support/servers/database.ts';
import type { TestDatabase } from '../test/support/servers/database-handle.ts';
import { newNkeySeed, nkeyOf } from './bus/nkey.ts';
import { ensureStreams } from './bus/setup.ts';
import { build } from './lib/telemetry/version.ts';

/** The answers to probes of a complete process while its real Postgres and NATS stop and start. */
const root = path.resolve(import.meta.dirname, '..');
const seed = newNkeySeed();
let database: TestDatabase;
let stateDir: string;
let natsPort: number;
let healthPort: number;
let service: ReturnType<typeof spawn>;
const supervisors: Supervisor[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  stateDir = mkdtempSync(path.join(tmpdir(), 'boot-'));
  const ports = createPortPicker();
  natsPort = await ports.any();
  healthPort = await ports.any();
  service = spawn(process.execPath, [...atSuiteClock, path.join(root, 'services/wallet/main.ts')], {
    env: {
      ...inherited,
      ENVIRONMENT: 'test',
      HTTP_HOST: '127.0.0.1',
      HTTP_PORT: String(healthPort),
      NATS_URL: `nats://127.0.0.1:${natsPort}`,
      NATS_NKEY_SEED: seed,
      POSTGRES_URL: database.url('wallet'),
      CURSOR_KEY: randomBytes(32).toString('base64url'),
    },
    stdio: 'ignore',
  });
});
afterAll(async () => {
  service.kill('SIGKILL');
  for (const supervisor of supervisors) await supervisor.stop();
  await database.drop();
  rmSync(stateDir, { recursive: true, force: true });
});

const get = (probe: string) =>
  fetch(`http://127.0.0.1:${healthPort}${probe}`).then(
    async (response) => ({ status: response.status, body: (await response.json()) as object }),
    () => null,
  );
const until = (probe: string, wanted: object) =>
  waitFor(
    () => get(probe),
    (seen) => JSON.stringify(seen) === JSON.stringify(wanted),
  );
const startNats = async () => {
  const supervisor = createSupervisor({ logDir: stateDir, stackFile: path.join(stateDir, 'stack.json') });
  supervisors.push(supervisor);
  const accounts = [{ name: 'TEST', users: [{ nkeys: [nkeyOf(seed)] }] }];
  await supervisor.start([natsServer({ stateDir, port: natsPort, accounts })]);
  await ensureStreams({ servers: `127.0.0.1:${natsPort}`, seed });
  return supervisor;
};
const onServer = async (statement: string) => {
  const client = new pg.Client({ connectionString: process.env.POSTGRES_URL });
  await client.connect();
  await client.query(statement);
  await client.end();
};

test('liveness depends on the process only, readiness on its own Postgres and NATS', async () => {
  const alive = { status: 200, body: { status: 'ok', ...build } };
  const ready = { status: 200, body: { status: 'ready', dependencies: { postgres: 'up', nats: 'up' } } };
  const not = (dependencies: object) => ({ status: 503, body: { status: 'not_ready', dependencies } });

  await until('/v1/health', alive);
  await until('/v1/health/ready', { status: 503, body: { status: 'starting', dependencies: {} } });

  const nats = await startNats();
  await until('/v1/health/ready', ready);

  await nats.stop();
  await until('/v1/health/ready', not({ postgres: 'up', nats: 'down' }));
  expect(await get('/v1/health')).toEqual(alive);
  await startNats();
  await until('/v1/health/ready', ready);

  const name = new URL(database.adminUrl).pathname.slice(1);
  await onServer(`alter database "${name}" allow_connections false`);
  await onServer(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
  await until('/v1/health/ready', not({ postgres: 'down', nats: 'up' }));
  expect(await get('/v1/health')).toEqual(alive);
  await onServer(`alter database "${name}" allow_connections true`);
  await until('/v1/health/ready', ready);
});
