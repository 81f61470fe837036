import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connect, type NatsConnection } from 'nats';
import { createSupervisor, type Supervisor } from '../../deploy/local/processes/supervisor.ts';
import { natsUserName } from '../../deploy/local/servers/nats-conf.ts';
import { natsServer } from '../../deploy/local/servers/nats-server.ts';
import { createPortPicker } from '../../deploy/local/servers/ports.ts';
import { waitUntil } from '../../test/support/wait.ts';
import { ensureStreams } from './setup.ts';
import { jobDurable } from './topology.ts';

const user = natsUserName('test', 'admin');
const pass = 'test';
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
  const accounts = [{ name: 'TEST', users: [{ user, password: pass }] }];
  await supervisor.start([natsServer({ stateDir, port, accounts })]);
  await ensureStreams({ servers, user, pass });
  connection = await connect({ servers, user, pass });
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
    ensureStreams({ servers, user, pass }).then(
      () => true,
      () => false,
    );
  while (!isBack() || !(await isSetUp())) await sleep(50);
  connection = await connect({ servers, user, pass });
  await publish('four');
  expect(await next()).toBe('four');
}, 30_000);
