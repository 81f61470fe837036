import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  type Authenticator,
  type ConnectionOptions,
  connect,
  type NatsConnection,
  type NKeyAuth,
} from 'nats';
import { loginWith, newNkeySeed, nkeyOf } from '../../../shared/bus/nkey.ts';
import { waitUntil } from '../../../test/support/base/wait.ts';
import { createSupervisor, type Supervisor } from '../processes/supervisor.ts';
import type { NatsAccount } from './nats-conf.ts';
import { natsServer } from './nats-server.ts';
import { createPortPicker } from './ports.ts';

const rights = { publish: ['rpc.quote.create'], subscribe: ['_INBOX.gateway.>'] };
/** The seeds of the environments' users. */
const seeds = Object.fromEntries(
  ['test', 'live'].map((environment) => [
    environment,
    { admin: newNkeySeed(), gateway: newNkeySeed(), wallet: newNkeySeed() },
  ]),
);
const accounts: NatsAccount[] = Object.entries(seeds).map(([environment, { admin, gateway, wallet }]) => ({
  name: environment.toUpperCase(),
  users: [
    { nkeys: [nkeyOf(admin)] },
    { nkeys: [nkeyOf(gateway)], rights },
    { nkeys: [nkeyOf(wallet)], rights: { publish: [], subscribe: [] } },
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

async function connectBy(login: ConnectionOptions): Promise<NatsConnection> {
  const connection = await connect({
    servers: `127.0.0.1:${port}`,
    ...login,
    inboxPrefix: '_INBOX.gateway',
  });
  open.push(connection);
  return connection;
}

const connectAs = (environment: string, user: 'admin' | 'gateway' | 'wallet') =>
  connectBy(loginWith(seeds[environment]![user]));
const admin = (environment: string) => connectAs(environment, 'admin');

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
const until = waitUntil;

test('a user can publish and subscribe only to subjects that its rights name', async () => {
  const [boss, gateway] = [await admin('test'), await connectAs('test', 'gateway')];
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
  const wallet = await connectAs('test', 'wallet');
  const refused = refusals(wallet);
  wallet.publish('anything', '');
  wallet.subscribe('anything', { callback: () => {} });
  await wallet.flush();
  await until(() => refused.length >= 2);
  expect(new Set(refused)).toEqual(new Set(['publish anything', 'subscription anything']));
});

test('another key, a missing login, and a public key with the signature of another key are refused', async () => {
  await expect(connectBy(loginWith(newNkeySeed()))).rejects.toThrow(/Authorization/);
  const stolen = nkeyOf(seeds.test!.gateway);
  const own = loginWith(newNkeySeed()).authenticator as Authenticator;
  const forged: Authenticator = (nonce) => ({ ...(own(nonce) as NKeyAuth), nkey: stolen });
  await expect(connectBy({ authenticator: forged })).rejects.toThrow(/Authorization/);
  const unsigned: Authenticator = () => ({ nkey: stolen, sig: '' });
  await expect(connectBy({ authenticator: unsigned })).rejects.toThrow(/Authorization/);
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
