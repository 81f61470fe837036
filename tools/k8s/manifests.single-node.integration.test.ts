import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { createSupervisor, type Supervisor } from '../../deploy/local/processes/supervisor.ts';
import { findBinary } from '../../deploy/local/servers/binaries.mjs';
import { databaseUrl, ensureDatabase } from '../../deploy/local/servers/database.ts';
import { createPortPicker } from '../../deploy/local/servers/ports.ts';
import { environmentKeys } from '../../deploy/local/stack/keys.ts';
import { seedChain } from '../../deploy/local/stack/seed-chain.ts';
import { chainSpec } from '../../deploy/local/stack/tool-specs.ts';
import { ensureStreams } from '../../shared/bus/setup.ts';
import { type Program, SERVICE_NAMES, type ServiceName } from '../../shared/contract/service.ts';
import { oneDatabase } from '../../shared/db/databases.ts';
import { migrateEnvironment } from '../../shared/db/migrate.ts';
import { roleName } from '../../shared/db/names.ts';
import { waitUntil } from '../../test/support/base/wait.ts';
import { missing, podOf, type Rendered, render } from '../../test/support/k8s/render.ts';
import { limitsFileOf, sourcesOf, variablesOf } from '../../test/support/k8s/settings.ts';
import { programOf } from '../../test/support/packages/programs.ts';

/**
 * The overlay `single-node` without a cluster. Every Deployment's process gets exactly the
 * variables of its container and runs over real servers with the overlay's files. Only the
 * addresses differ, and the chain is the local one.
 */
const DATABASE = 'quittance_test';
const why = missing();
const processes = new Map<string, { child: ChildProcess; http: number; metrics: number; ready: string }>();
let folder = '';
let supervisor: Supervisor;
let nats: ChildProcess;

(why === null ? describe : describe.skip)(`single-node${why === null ? '' : `, skipped: ${why}`}`, () => {
  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'k8s-single-'));
    const objects = render('single-node');
    const installation = {
      environments: [{ name: 'test', namespace: 'quittance' }],
      gatewayNamespace: 'quittance',
    };
    const sources = sourcesOf(installation, objects, folder);
    const secret = (name: string) => sources.get(`quittance/Secret/${name}`)!;
    const keys = environmentKeys(folder, 'test');
    const ports = createPortPicker();

    const [rpcPort, natsPort, monitorPort] = [await ports.anyPair(), await ports.any(), await ports.any()];
    supervisor = createSupervisor({ logDir: folder, stackFile: path.join(folder, 'stack.json') });
    const settings = { stateDir: folder, stackFile: '', print: () => {}, chainSlotMs: 20 };
    await supervisor.start([
      chainSpec({
        settings,
        environment: { name: 'test', keys },
        port: rpcPort,
        scenariosPort: null,
        first: true,
      }),
    ]);
    const { genesisHash } = await seedChain(`http://127.0.0.1:${rpcPort}`, keys);

    const find = (kind: string, name: string) =>
      objects.find((each) => each.kind === kind && each.metadata.name.startsWith(name))!;
    const conf = (find('ConfigMap', 'nats-').data['nats.conf'] as string)
      .replace('"0.0.0.0"', '"127.0.0.1"')
      .replace('4222', String(natsPort))
      .replace('0.0.0.0:8222', `127.0.0.1:${monitorPort}`)
      .replace('"/data"', JSON.stringify(path.join(folder, 'nats')));
    mkdirSync(path.join(folder, 'nats'));
    writeFileSync(path.join(folder, 'nats.conf'), conf);
    const bus = find('StatefulSet', 'nats');
    const { values: env } = variablesOf(bus, podOf(bus).spec.containers[0], sources);
    for (const text of [find('ConfigMap', 'nats-').data, sources.get('quittance/ConfigMap/nats-users')!])
      for (const [name, content] of Object.entries(text))
        if (name !== 'nats.conf') writeFileSync(path.join(folder, name), content as string);
    nats = spawn(findBinary('nats-server')!, ['-c', path.join(folder, 'nats.conf')], {
      env,
      stdio: 'ignore',
    });
    const seed = secret('setup').NATS_NKEY_SEED!;
    await until(() => succeeds(ensureStreams({ servers: `127.0.0.1:${natsPort}`, seed })));

    const server = process.env.POSTGRES_URL!;
    await ensureDatabase(server, DATABASE);
    await migrateEnvironment({
      databases: oneDatabase(databaseUrl(server, DATABASE)),
      passwords: JSON.parse(secret('setup').DATABASE_PASSWORDS!) as Record<ServiceName, string>,
    });

    const elsewhere = (value: string) =>
      value
        .replaceAll(/nats:\/\/nats(\.quittance\.svc)?:4222/g, `nats://127.0.0.1:${natsPort}`)
        .replaceAll('postgres-rw:5432', new URL(server).host);
    for (const object of objects.filter(isOurs)) {
      const [container] = podOf(object).spec.containers;
      const { values, missing: absent } = variablesOf(object, container, sources);
      expect(absent).toEqual([]);
      const own = { http: await ports.any(), metrics: await ports.any() };
      const env: Record<string, string> = {
        ...Object.fromEntries(Object.entries(values).map(([name, value]) => [name, elsewhere(value)])),
        ...(values.SOLANA_RPC_URLS && {
          SOLANA_RPC_URLS: `http://127.0.0.1:${rpcPort}`,
          GENESIS_HASH: genesisHash,
        }),
        ...(values.USDC_MINT && { USDC_MINT: keys.mint }),
        ...(values.USDC_MINTS && { USDC_MINTS: JSON.stringify({ test: keys.mint }) }),
        ...(values.REDIS_URL && { REDIS_URL: process.env.REDIS_URL! }),
        ...(values.LIMITS_FILE && { LIMITS_FILE: limitsFileOf(object, sources, folder) }),
        HTTP_PORT: String(own.http),
        OTEL_EXPORTER_PROMETHEUS_PORT: String(own.metrics),
      };
      const child = spawn(process.execPath, [await programOf(container.args[0] as Program)], {
        env,
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      processes.set(container.name, { child, ...own, ready: container.readinessProbe.httpGet.path });
    }
  });

  afterAll(async () => {
    const exits = [...processes.values()]
      .filter(({ child }) => child.exitCode === null && child.signalCode === null)
      .map(({ child }) => once(child, 'exit'));
    for (const { child } of processes.values()) child.kill('SIGKILL');
    nats?.kill('SIGKILL');
    await supervisor?.stop();
    await Promise.all(exits);
    const client = new pg.Client({ connectionString: process.env.POSTGRES_URL });
    await client.connect();
    await client.query(`drop database if exists "${DATABASE}" with (force)`);
    for (const name of SERVICE_NAMES) await client.query(`drop role if exists "${roleName(DATABASE, name)}"`);
    await client.end();
    rmSync(folder, { recursive: true, force: true });
  });

  test('every process becomes ready and shows its metrics, and the gateway reaches all of them', async () => {
    for (const [name, { http, metrics, ready }] of processes) {
      await until(async () => (await fetch(`http://127.0.0.1:${http}${ready}`)).status === 200);
      expect([name, (await fetch(`http://127.0.0.1:${metrics}/metrics`)).status]).toEqual([name, 200]);
    }
    const { http, ready } = processes.get('gateway')!;
    const body = (await (await fetch(`http://127.0.0.1:${http}${ready}`)).json()) as {
      environments: { test: Record<string, string> };
    };
    const states = body.environments.test;
    expect(Object.values(states)).toEqual(Object.values(states).map(() => 'up'));
    expect(Object.keys(states).length).toBeGreaterThan(4);
  });

  test('each process ends by itself after SIGTERM', async () => {
    const codes = [...processes.values()].map(async ({ child }) => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      return (await ended)[0] as number | null;
    });
    expect(await Promise.all(codes)).toEqual(codes.map(() => 0));
  });
});

function isOurs(object: Rendered): boolean {
  return object.kind === 'Deployment' && podOf(object).spec.containers[0].image.startsWith('quittance');
}

function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}

const until = (condition: () => Promise<boolean>) => waitUntil(() => condition().catch(() => false));
