import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connect } from 'nats';
import { findBinary } from '../../deploy/local/servers/binaries.mjs';
import { createPortPicker } from '../../deploy/local/servers/ports.ts';
import { environmentKeys } from '../../deploy/local/stack/keys.ts';
import { loginWith, newNkeySeed, nkeyOf } from '../../shared/bus/nkey.ts';
import { ensureStreams } from '../../shared/bus/setup.ts';
import { durables, inboxPrefix, STREAMS } from '../../shared/bus/topology.ts';
import type { BusUser, Program } from '../../shared/contract/service.ts';
import { waitUntil } from '../../test/support/base/wait.ts';
import { clusterConf, RIGHTS_FILE, rights, routesPatch, SERVERS, USERS_FILE } from './bus.ts';
import { clusterSecrets } from './secrets.ts';

/**
 * Three real servers with the configuration files of k8s/components/nats and the users of an
 * installation. They get their routes in the same way as in its StatefulSet.
 */
let folder = '';
const clientPorts: number[] = [];
const servers: ChildProcess[] = [];
const variables: Record<string, string> = {};

type Env = { name: string; value?: string; valueFrom?: { secretKeyRef?: { name: string; key: string } } };

const start = (number: number) => {
  const file = path.join(folder, `nats-${number}.conf`);
  const server = spawn(findBinary('nats-server')!, ['-c', file], {
    env: { ...variables, POD_NAME: `nats-${number}` },
    stdio: 'ignore',
  });
  servers[number] = server;
};

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'k8s-nats-'));
  const secrets = clusterSecrets({
    folder,
    environments: [
      { name: 'test', namespace: 'n', rpcUrls: ['https://rpc.example'], smtpUrl: 'smtp://mail' },
    ],
    gatewayNamespace: 'g',
  }) as unknown as {
    kind: string;
    metadata: { name: string; namespace: string };
    stringData?: Record<string, string>;
    data?: Record<string, string>;
  }[];
  const values = (wanted: string, name: string) => {
    const found = secrets.find(
      ({ kind, metadata }) => kind === wanted && metadata.name === name && metadata.namespace === 'n',
    );
    return (found?.stringData ?? found?.data)!;
  };
  const secret = (name: string) => values('Secret', name);
  seedOf = (user) => environmentKeys(folder, 'test').natsSeeds[user];
  writeFileSync(path.join(folder, RIGHTS_FILE), rights());
  writeFileSync(path.join(folder, USERS_FILE), values('ConfigMap', 'nats-users')[USERS_FILE]!);

  const ports = createPortPicker();
  const clusterPorts: number[] = [];
  for (let number = 0; number < SERVERS; number += 1) {
    clientPorts.push(await ports.any());
    clusterPorts.push(await ports.any());
    const storeDir = path.join(folder, String(number));
    mkdirSync(storeDir);
    const conf = clusterConf({
      port: clientPorts[number]!,
      clusterPort: clusterPorts[number]!,
      monitorPort: await ports.any(),
      storeDir,
    });
    // The folder of the pod does not exist here.
    writeFileSync(path.join(folder, `nats-${number}.conf`), conf.replace('/run/nats/', `${storeDir}/`));
  }
  const { env } = (routesPatch().spec as { template: { spec: { containers: { env: Env[] }[] } } }).template
    .spec.containers[0]!;
  for (const { name, value, valueFrom } of env) {
    const reference = valueFrom?.secretKeyRef;
    if (reference) variables[name] = secret(reference.name)[reference.key]!;
    // As the kubelet does: a variable may refer to earlier ones.
    if (value) variables[name] = value.replace(/\$\((\w+)\)/g, (_, other: string) => variables[other]!);
  }
  for (const [name, value] of Object.entries(variables)) {
    const number = /^NATS_ROUTE_(\d)$/.exec(name)?.[1];
    if (number !== undefined)
      variables[name] = value.replace(/@.*$/, `@127.0.0.1:${clusterPorts[Number(number)]}`);
  }

  for (let number = 0; number < SERVERS; number += 1) start(number);
  await until(() =>
    ensureStreams({ servers: at(0), seed: seedOf('admin'), replicas: SERVERS }).then(
      () => true,
      () => false,
    ),
  );
});
afterAll(() => {
  for (const server of servers) server.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const at = (number: number): string => `127.0.0.1:${clientPorts[number]}`;
let seedOf: (user: Program | 'admin') => string;
const as = (user: Program | 'admin', number = 0, seed = seedOf(user)) =>
  connect({
    servers: at(number),
    ...loginWith(seed),
    inboxPrefix: inboxPrefix(user as BusUser),
    reconnect: false,
  });
const until = (condition: () => boolean | Promise<boolean>) =>
  waitUntil(condition, { withinMs: 30_000, everyMs: 100 });

test('streams have a copy on each server, and every consumer exists', async () => {
  const nc = await as('admin');
  const jsm = await nc.jetstreamManager();
  for (const stream of Object.values(STREAMS)) {
    const { config, cluster } = await jsm.streams.info(stream);
    expect(config.num_replicas).toBe(SERVERS);
    expect([cluster?.leader, ...(cluster?.replicas ?? []).map(({ name }) => name)].sort()).toEqual([
      'nats-0',
      'nats-1',
      'nats-2',
    ]);
  }
  for (const { stream, durable } of durables())
    await until(() =>
      jsm.consumers.info(stream, durable).then(
        ({ name }) => name === durable,
        () => false,
      ),
    );
  await nc.close();
});

test('no server lets a user exceed its rights', async () => {
  for (const [user, number] of [
    ['quote', 0],
    ['wallet', 1],
    ['chain-submitter', 2],
  ] as const) {
    const nc = await as(user, number);
    const refused: string[] = [];
    void (async () => {
      for await (const status of nc.status()) {
        const { permissionContext } = status as {
          permissionContext?: { operation: string; subject: string };
        };
        if (permissionContext) refused.push(permissionContext.subject);
      }
    })();
    const forbidden = [
      'rpc.settlement.settle',
      'evt.settlement.issued',
      '$JS.API.STREAM.DELETE.JOBS',
      'wake.settlement.x',
    ];
    for (const subject of forbidden) nc.publish(subject, 'forged');
    await nc.flush();
    await until(() => refused.length >= forbidden.length);
    expect(new Set(refused)).toEqual(new Set(forbidden));
    await nc.close();
  }
  await expect(as('quote', 0, newNkeySeed())).rejects.toThrow(/Authorization/);
  const route = { user: 'route', pass: variables.NATS_PASSWORD_ROUTE! };
  await expect(connect({ servers: at(0), ...route, reconnect: false })).rejects.toThrow(/Authorization/);
});

test('servers that read their users again keep their clients, take a new key, and refuse the old one', async () => {
  const file = path.join(folder, USERS_FILE);
  const users = readFileSync(file, 'utf8');
  const [old, next] = [seedOf('quote'), newNkeySeed()];
  const line = users.split('\n').find((each) => each.includes(nkeyOf(old)))!;
  const reload = (text: string) => {
    writeFileSync(file, text);
    for (const server of servers) server.kill('SIGHUP');
  };
  const closed: string[] = [];
  const staying = await as('wallet', 1);
  void staying.closed().then(() => closed.push('wallet'));
  const first = await as('quote', 0);
  void first.closed().then(() => closed.push('quote'));

  reload(users.replace(line, `${line}\n${line.replace(nkeyOf(old), nkeyOf(next))}`));
  for (const number of servers.keys())
    await until(() =>
      as('quote', number, next).then(
        async (nc) => {
          await nc.close();
          return true;
        },
        () => false,
      ),
    );
  expect(closed).toEqual([]);

  reload(users.replace(nkeyOf(old), nkeyOf(next)));
  await until(() => closed.length > 0);
  for (const number of servers.keys())
    await until(() =>
      as('quote', number, old).then(
        async (nc) => {
          await nc.close();
          return false;
        },
        (error: Error) => /Authorization/.test(error.message),
      ),
    );
  expect(closed).toEqual(['quote']);
  await staying.close();
  reload(users);
});

test('a message is stored and delivered while one of the three servers is stopped', async () => {
  const settlement = await as('settlement');
  servers[2]!.kill('SIGKILL');
  await until(() =>
    settlement
      .jetstream()
      .publish('job.chain-submitter.settle', 'work')
      .then(
        () => true,
        () => false,
      ),
  );
  const submitter = await as('chain-submitter', 1);
  // Until the two have elected the leader of the consumer, its server does not answer.
  const take = async (): Promise<string | undefined> => {
    const consumer = await submitter.jetstream().consumers.get(STREAMS.jobs, 'chain-submitter_settle');
    const message = await consumer.next({ expires: 5000 });
    message?.ack();
    return message?.string();
  };
  await until(() =>
    take().then(
      (text) => text === 'work',
      () => false,
    ),
  );
  await submitter.flush();
  await Promise.all([settlement.close(), submitter.close()]);
});
