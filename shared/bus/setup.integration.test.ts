import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { AckPolicy, connect, type NatsConnection } from 'nats';
import { natsUserName } from '../../deploy/local/nats-conf.ts';
import { createPortPicker } from '../../deploy/local/ports.ts';
import { natsServer } from '../../deploy/local/servers.ts';
import { createSupervisor, type Supervisor } from '../../deploy/local/supervisor.ts';
import { ensureStreams } from './setup.ts';
import { durables, eventDurable, jobDurable, retiredDurables } from './topology.ts';

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

const publish = (text: string) => connection.jetstream().publish(filter, text);
const next = async (): Promise<string | undefined> => {
  const consumer = await connection.jetstream().consumers.get(stream, durable);
  const message = await consumer.next({ expires: 1500 });
  message?.ack();
  await connection.flush();
  return message?.string();
};

test('a server that lost its message blocks delivers what is published next', async () => {
  for (const text of ['one', 'two', 'three']) await publish(text);
  expect([await next(), await next(), await next()]).toEqual(['one', 'two', 'three']);
  // The consumer's place is written a moment later.
  await sleep(500);

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

test('consumers of single facts take over where the one of the release before was not done, which goes once unused', async () => {
  const jsm = await connection.jetstreamManager();
  const js = connection.jetstream();
  const made = eventDurable('quote', 'settlement', 'issued');
  const retired = retiredDurables().find((each) => each.durable === 'quote_hears_settlement')!;
  // As the release before left it: three facts told, two of them heard, the second not acknowledged.
  for (const { stream: from, durable: name } of durables())
    if (name.startsWith(retired.durable)) await jsm.consumers.delete(from, name);
  const shape = { ack_policy: AckPolicy.Explicit, filter_subject: retired.filter };
  await jsm.consumers.add(retired.stream, { ...shape, durable_name: retired.durable });
  for (const text of ['heard', 'taken, not acknowledged', 'waiting']) await js.publish(made.filter, text);
  const before = await js.consumers.get(retired.stream, retired.durable);
  await (await before.next())!.ackAck();
  await before.next();

  // Somebody still hears by it: it stays beside the new ones.
  const hearing = await before.consume({ max_messages: 1, callback: () => {} });
  while ((await before.info()).num_waiting === 0) await sleep(20);
  await ensureStreams({ servers, user, pass });
  expect((await before.info()).name).toBe(retired.durable);
  const after = await js.consumers.get(made.stream, made.durable);
  const texts: string[] = [];
  for (const _ of [1, 2]) {
    const message = (await after.next({ expires: 1500 }))!;
    texts.push(message.string());
    await message.ackAck();
  }
  expect(texts).toEqual(['taken, not acknowledged', 'waiting']);

  await hearing.close();
  await connection.close();
  connection = await connect({ servers, user, pass });
  // Its request ends with its connection, of which the server hears a moment later.
  const remains = async () =>
    (await (await connection.jetstreamManager()).consumers.list(retired.stream).next()).some(
      ({ name }) => name === retired.durable,
    );
  while (await remains()) {
    await ensureStreams({ servers, user, pass });
    await sleep(50);
  }
  const there = await (await connection.jetstreamManager()).consumers.info(made.stream, made.durable);
  expect([there.num_pending, there.num_ack_pending]).toEqual([0, 0]);
}, 30_000);
