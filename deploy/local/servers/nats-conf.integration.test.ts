import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connect, type NatsConnection } from 'nats';
import { createSupervisor, type Supervisor } from '../processes/supervisor.ts';
import { type NatsAccount, natsUserName } from './nats-conf.ts';
import { natsServer } from './nats-server.ts';
import { createPortPicker } from './ports.ts';

const rights = { publish: ['rpc.quote.create'], subscribe: ['_INBOX.gateway.>'] };
const accounts: NatsAccount[] = ['test', 'live'].map((environment) => ({
  name: environment.toUpperCase(),
  users: [
    { user: natsUserName(environment, 'admin'), password: `${environment}-"quoted" \\ password` },
    { user: natsUserName(environment, 'gateway'), password: 'g', rights },
    { user: natsUserName(environment, 'wallet'), password: 'w', rights: { publish: [], subscribe: [] } },
  ],
}));

let stateDir = '';
let port = 0;
let supervisor: Supervisor;
const open: NatsConnection[] = [];

beforeAll(async () => {
  stateDir = mkdtempSync(path.join(tmpdir(), 'nats-'));
  port = await createPortPicker().any();
  const stackFile = path.join(stateDir, 'stack.json');
  supervisor = createSupervisor({ logDir: stateDir, stackFile });
  await supervisor.start([natsServer({ stateDir, port, accounts })]);
});

afterAll(async () => {
  for (const connection of open) await connection.close();
  await supervisor.stop();
  rmSync(stateDir, { recursive: true, force: true });
});

async function connectAs(user: string, pass: string): Promise<NatsConnection> {
  const connection = await connect({
    servers: `127.0.0.1:${port}`,
    user,
    pass,
    inboxPrefix: '_INBOX.gateway',
  });
  open.push(connection);
  return connection;
}

const admin = (environment: string) =>
  connectAs(`${environment}-admin`, `${environment}-"quoted" \\ password`);

/** The errors that the server sends to this connection from now on. */
function refusals(connection: NatsConnection): string[] {
  const found: string[] = [];
  void (async () => {
    for await (const status of connection.status()) {
      const permission = (status as { permissionContext?: { operation: string; subject: string } })
        .permissionContext;
      if (permission) found.push(`${permission.operation} ${permission.subject}`);
    }
  })();
  return found;
}

/** The server sends these errors after the answer to a flush. */
async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; tries < 100 && !condition(); tries++) await sleep(20);
}

test('a user can publish and subscribe only to subjects that its rights name', async () => {
  const [boss, gateway] = [await admin('test'), await connectAs('test-gateway', 'g')];
  const heard: string[] = [];
  boss.subscribe('>', { callback: (_error, message) => void heard.push(message.subject) });
  await boss.flush();
  const refused = refusals(gateway);

  gateway.publish('rpc.quote.create', 'yes');
  gateway.publish('rpc.quote.get', 'no');
  gateway.publish('$JS.API.STREAM.PURGE.jobs', 'no');
  gateway.subscribe('rpc.>', { callback: () => {} });
  await gateway.flush();
  await boss.flush();
  await until(() => refused.length >= 3);

  expect(heard.filter((subject) => subject.startsWith('rpc.') || subject.startsWith('$JS'))).toEqual([
    'rpc.quote.create',
  ]);
  expect(new Set(refused)).toEqual(
    new Set(['publish $JS.API.STREAM.PURGE.jobs', 'publish rpc.quote.get', 'subscription rpc.>']),
  );
});

test('empty rights allow nothing', async () => {
  const wallet = await connectAs('test-wallet', 'w');
  const refused = refusals(wallet);
  wallet.publish('anything', '');
  wallet.subscribe('anything', { callback: () => {} });
  await wallet.flush();
  await until(() => refused.length >= 2);
  expect(new Set(refused)).toEqual(new Set(['publish anything', 'subscription anything']));
});

test('a wrong password and a missing user are refused', async () => {
  await expect(connectAs('test-gateway', 'wrong')).rejects.toThrow(/Authorization/);
  await expect(connect({ servers: `127.0.0.1:${port}` })).rejects.toThrow(/Authorization/);
});

test('environments do not receive each other’s messages and have separate streams', async () => {
  const [test, live] = [await admin('test'), await admin('live')];
  const heard: string[] = [];
  live.subscribe('evt.>', { callback: (_error, message) => void heard.push(message.subject) });
  await live.flush();
  test.publish('evt.settlement.issued', '{}');
  await test.flush();
  await live.flush();
  expect(heard).toEqual([]);

  await (await test.jetstreamManager()).streams.add({ name: 'jobs', subjects: ['job.>'] });
  expect(await (await live.jetstreamManager()).streams.list().next()).toEqual([]);
});
