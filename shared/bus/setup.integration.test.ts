import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connect, type NatsConnection } from 'nats';
import { createSupervisor, type Supervisor } from '../../deploy/local/processes/supervisor.ts';
import { natsServer } from '../../deploy/local/servers/nats-server.ts';
import { createPortPicker } from '../../deploy/local/servers/ports.ts';
import { waitUntil } from '../../test/support/base/wait.ts';
import { loginWith, newNkeySeed, nkeyOf } from './nkey.ts';
import { ensureStreams } from './setup.ts';
import { jobDurable } from './topology.ts';

const seed = newNkeySeed();
const { stream, durable, filter } = jobDurable('chain-submitter', 'settle');

let stateDir: string;
let servers: string;
let supervisor: Supervisor;
let connection: NatsConnection;

beforeAll(async () => {
  stateDir = mkdtempSync(path.join(tmpdir(), 'quittance-setup-'));
  const port = await createPortPicker().any();
  servers = `127.0.0.1:${port}`;
  supervisor = createSupervisor({ logDir: stateDir, stackFile: path.join(stateDir, 'stack.json') });
  const accounts = [{ name: 'TEST', users: [{ nkeys: [nkeyOf(seed)] }] }];
  await supervisor.start([natsServer({ stateDir, port, accounts })]);
  await ensureStreams({ servers, seed });
  connection = await connect({ servers, ...loginWith(seed) });
});
afterAll(async () => {
  await connection.close();
  await supervisor.stop();
  rmSync(stateDir, { recursive: true, force: true });
});

/** What the server has written about the positions of the consumers. */
const positions = () =>
  globSync('**/obs/*/o.dat', { cwd: stateDir })
    .map((file) => readFileSync(path.join(stateDir, file), 'base64'))
    .join();
const publish = (text: string) => connection.jetstream().publish(filter, text);
const next = async (): Promise<string | undefined> => {
  const consumer = await connection.jetstream().consumers.get(stream, durable);
  const message = await consumer.next({ expires: 1500 });
  message?.ack();
  await connection.flush();
  return message?.string();
};

test('after the loss of its message blocks a server delivers new messages', async () => {
  for (const text of ['one', 'two', 'three']) await publish(text);
  expect([await next(), await next()]).toEqual(['one', 'two']);
  const before = positions();
  expect(await next()).toBe('three');
  // The server writes the position of the consumer a moment later.
  await waitUntil(() => positions() !== before);

  await connection.close();
  const killed = supervisor.pids()['nats-server']!;
  process.kill(killed, 'SIGKILL');
  for (const block of globSync('**/*.blk', { cwd: stateDir })) rmSync(path.join(stateDir, block));
  const isBack = () => ![undefined, killed].includes(supervisor.pids()['nats-server']);
  const isSetUp = () =>
    ensureStreams({ servers, seed }).then(
      () => true,
      () => false,
    );
  while (!isBack() || !(await isSetUp())) await sleep(50);
  connection = await connect({ servers, ...loginWith(seed) });
  await publish('four');
  expect(await next()).toBe('four');
});
