import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { z } from 'zod';
import { createSupervisor, type Supervisor } from '../../deploy/local/processes/supervisor.ts';
import { createPortPicker } from '../../deploy/local/servers/ports.ts';
import { postgresServer } from '../../deploy/local/servers/postgres-server.ts';
import { waitFor } from '../../test/support/base/wait.ts';
import { createLogger } from '../lib/telemetry/logger.ts';
import { connectPool, type Db, type Pool, sql } from './pool.ts';
import { createReads, type Reads } from './reads.ts';

/** Reads over a primary and a streaming replica of it, two real servers. */
const stateDir = mkdtempSync(path.join(tmpdir(), 'quittance-reads-'));
let supervisor: Supervisor;
let urls: { primary: string; replica: string };
let replica: Awaited<ReturnType<typeof postgresServer>>;
let primary: Pool;
/** A superuser of the replica. */
let onReplica: pg.Pool;
let reads: Reads;
let end = async () => {};

const open = () => {
  ({ reads, end } = createReads(primary, {
    replicaUrl: urls.replica,
    max: 4,
    logger: createLogger('wallet', 'fatal'),
  }));
};

beforeAll(async () => {
  const ports = createPortPicker();
  supervisor = createSupervisor({ logDir: stateDir, stackFile: path.join(stateDir, 'stack.json') });
  const first = await postgresServer({ stateDir, port: await ports.any(), durable: false });
  await supervisor.start([first.spec]);
  const port = await ports.any();
  replica = await postgresServer({ stateDir, name: 'replica', port, durable: false, replicaOf: first.url });
  await supervisor.start([replica.spec]);
  urls = { primary: first.url, replica: replica.url };
  primary = await connectPool(urls.primary, { max: 4 });
  await primary.query(sql.typeAlias('void')`create table written (n bigint primary key)`);
  onReplica = new pg.Pool({ connectionString: urls.replica, max: 1 });
  onReplica.on('error', () => {});
  open();
});
afterEach(async () => {
  await end();
  open();
});
afterAll(async () => {
  await end();
  await onReplica?.end();
  await primary?.end();
  await supervisor?.stop();
  rmSync(stateDir, { recursive: true, force: true });
});

let last = 0n;
const write = async (): Promise<bigint> => {
  last += 1n;
  await primary.query(sql.typeAlias('void')`insert into written values (${last})`);
  return last;
};
const Answer = z.object({ newest: z.bigint(), is_replica: z.boolean() });
const newest = (db: Db) =>
  db.one(sql.type(Answer)`
    select coalesce(max(n), 0)::bigint as newest, pg_is_in_recovery() as is_replica from written`);
const untilReplicaAnswers = () =>
  waitFor(
    () => reads(newest),
    ({ is_replica }) => is_replica,
  );

test('the replica answers, and each read sees what was committed before it', async () => {
  await untilReplicaAnswers();
  const answers = [];
  for (let turn = 0; turn < 200; turn += 1) {
    const written = await write();
    answers.push({ written, ...(await reads(newest)) });
  }
  expect(answers.filter(({ written, newest: seen }) => seen !== written)).toEqual([]);
  expect(answers.filter(({ is_replica }) => is_replica).length).toBeGreaterThan(150);
});

test('reads of one moment see what each of their callers has committed', async () => {
  await untilReplicaAnswers();
  const seen = await Promise.all(
    Array.from({ length: 32 }, async () => {
      const written = await write();
      return (await reads(newest)).newest >= written;
    }),
  );
  expect(seen).not.toContain(false);
});

test('while the replica is behind the primary answers, and then the replica again', async () => {
  await untilReplicaAnswers();
  await onReplica.query('select pg_wal_replay_pause()');
  const written = await write();
  expect(await reads(newest)).toEqual({ newest: written, is_replica: false });
  await onReplica.query('select pg_wal_replay_resume()');
  expect((await untilReplicaAnswers()).newest).toBe(written);
});

test('a replica that hangs, dies and comes back costs no answer', async () => {
  await untilReplicaAnswers();
  const pid = supervisor.pids().replica!;
  process.kill(pid, 'SIGSTOP');
  const written = await write();
  expect(await reads(newest)).toMatchObject({ newest: written });
  process.kill(pid, 'SIGKILL');
  const again = await write();
  expect((await reads(newest)).newest).toBe(again);
  expect((await untilReplicaAnswers()).newest).toBe(again);
});

test('a server that is no replica any more answers nothing', async () => {
  await untilReplicaAnswers();
  await onReplica.query('select pg_promote()');
  await onReplica.query('insert into written values (1000000)');
  const written = await write();
  for (let turn = 0; turn < 3; turn += 1)
    expect(await reads(newest)).toEqual({ newest: written, is_replica: false });
});
