import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { connect } from 'nats';
import pg from 'pg';
import { waitFor } from '../../../test/support/base/wait.ts';
import { identify, waitUntilGone } from '../processes/process-identity.ts';
import { ensureDatabase } from './database.ts';
import { outsideFolder } from './postgres-server.ts';
import { type RunningServers, startServers } from './start-servers.ts';

let stateDir = '';
let servers: RunningServers;

// A private folder. If root runs the tests, the user of Postgres cannot enter it, and the data are
// stored in another folder.
beforeAll(async () => {
  stateDir = mkdtempSync(path.join(tmpdir(), 'servers-'));
  chmodSync(stateDir, 0o700);
  servers = await startServers({ stateDir });
});

afterAll(async () => {
  await servers.stop();
  for (const folder of [stateDir, outsideFolder(stateDir)]) rmSync(folder, { recursive: true, force: true });
});

const children = (): { name: string; pid: number; started: string }[] =>
  JSON.parse(readFileSync(path.join(stateDir, 'lock.json'), 'utf8')).children;

async function query(text: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: servers.postgresUrl });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

test('each server answers its client', async () => {
  expect(await query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  const redis = new Redis(servers.redisUrl);
  expect(await redis.ping()).toBe('PONG');
  redis.disconnect();
  const nats = await connect({ servers: servers.natsUrl });
  expect((await (await nats.jetstreamManager()).getAccountInfo()).streams).toBe(0);
  await nats.close();
});

test('Postgres requires the password', async () => {
  const url = new URL(servers.postgresUrl);
  url.password = 'wrong';
  const client = new pg.Client({ connectionString: url.href });
  await expect(client.connect()).rejects.toThrow(/password authentication failed/);
});

test('creating a database twice creates it once', async () => {
  await ensureDatabase(servers.postgresUrl, 'quittance_test');
  await ensureDatabase(servers.postgresUrl, 'quittance_test');
  expect(await query("SELECT datname FROM pg_database WHERE datname = 'quittance_test'")).toHaveLength(1);
});

test('a killed Postgres starts again with everything that was committed', async () => {
  await query('CREATE TABLE kept AS SELECT 42 AS answer');
  const before = children().find(({ name }) => name === 'postgres')!;
  process.kill(before.pid, 'SIGKILL');
  expect(await waitUntilGone([before], 5000)).toBe(true);
  const answers = () => query('SELECT answer FROM kept').catch(() => undefined);
  expect(await waitFor(answers, (rows) => rows !== undefined)).toEqual([{ answer: 42 }]);
});

test('two state folders do not affect each other, and a stop leaves no process or file', async () => {
  const other = mkdtempSync(path.join(tmpdir(), 'servers-'));
  const second = await startServers({ stateDir: other });
  const pids = JSON.parse(readFileSync(path.join(other, 'lock.json'), 'utf8')).children.map(
    ({ pid }: { pid: number }) => pid,
  );
  expect(pids).toHaveLength(3);
  await second.stop();
  expect(pids.map(identify)).toEqual([undefined, undefined, undefined]);
  for (const folder of [other, outsideFolder(other)]) rmSync(folder, { recursive: true, force: true });
});
