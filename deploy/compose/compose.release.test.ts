import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import type { ProcessSpec } from '../local/processes/process-spec.ts';
import { createSupervisor, type Supervisor } from '../local/processes/supervisor.ts';
import { transcript } from '../local/seed/transcript.ts';
import { ensureDatabase } from '../local/servers/database.ts';
import { natsServer } from '../local/servers/nats-server.ts';
import { createPortPicker } from '../local/servers/ports.ts';
import { outsideFolder, postgresServer } from '../local/servers/postgres-server.ts';
import { redisServer } from '../local/servers/redis-server.ts';
import type { Stack } from '../local/stack/stack-file.ts';
import { responds } from '../local/stack/tool-specs.ts';
import { composeFiles } from './init.ts';

/**
 * Runs the processes of compose.yaml without containers, with their variables and in their order.
 * The host names are replaced by ports of this machine. Images, networks, mounts and health checks
 * need an engine and are not tested here.
 */
type Service = {
  image: string;
  command: string[];
  env_file: string[];
  profiles?: string[];
  depends_on?: Record<string, { condition: string }>;
};
const root = path.resolve(import.meta.dirname, '../..');
const { services } = parse(readFileSync(path.join(root, 'deploy/compose.yaml'), 'utf8'), { merge: true }) as {
  services: Record<string, Service>;
};
const names = Object.keys(services).filter((name) => services[name]!.profiles === undefined);

let folder = '';
let supervisor: Supervisor;
let files: Record<string, string>;
/** `nats:4222` → the port that replaces it. */
const ports = new Map<string, number>();
const portOf = (address: string): number => ports.get(address)!;

/** Each process's own address, by the variable that configures it. */
const LISTENING: Record<string, string> = {
  HTTP_PORT: ':3000',
  CHAIN_PORT: ':8899',
  CHAIN_SCENARIOS_PORT: ':8901',
  MAIL_SMTP_PORT: ':1025',
  MAIL_HTTP_PORT: ':8025',
  ONRAMPS_PORT: ':8090',
};

const variablesOf = (name: string): Record<string, string> => {
  const given = Object.assign(
    {},
    ...services[name]!.env_file.map((file) => parseEnv(files[path.basename(file)]!)),
  );
  const here = (value: string) =>
    value
      .replace(/(?<=[/@])([a-z-]+:\d+)/g, (address) =>
        ports.has(address) ? `127.0.0.1:${portOf(address)}` : address,
      )
      .replaceAll('http://localhost:3000', `http://127.0.0.1:${portOf('gateway:3000')}`);
  return Object.fromEntries(
    Object.entries<string>(given).map(([variable, value]) => {
      if (Object.hasOwn(LISTENING, variable))
        return [variable, String(portOf(`${name}${LISTENING[variable]}`))];
      return [variable, variable.endsWith('_DATA_DIR') ? path.join(folder, `data-${name}`) : here(value)];
    }),
  );
};

/** The file that the entry point of the image or of the sandbox runs for this command. */
const programOf = ({ image, command }: Service): string => {
  const [name] = command as [string];
  const places =
    image === 'quittance:local' ? [`services/${name}/main.ts`, `shared/jobs/${name}.ts`] : [name];
  return path.join(root, places.find((place) => existsSync(path.join(root, place)))!);
};

const server = async (name: string): Promise<ProcessSpec> => {
  const at = { stateDir: folder, durable: false };
  if (name === 'redis') return redisServer({ ...at, port: portOf('redis:6379') });
  if (name === 'postgres') return (await postgresServer({ ...at, port: portOf('postgres:5432') })).spec;
  const conf = path.join(folder, 'nats-here.conf');
  const text = files['nats.conf']!.replace('port: 4222', `port: ${portOf('nats:4222')}`);
  writeFileSync(conf, text.replace('"/data"', JSON.stringify(path.join(folder, 'data-nats'))));
  return {
    ...natsServer({ ...at, port: portOf('nats:4222'), accounts: [] }),
    args: ['-c', conf],
    prepare: () => {},
  };
};

const READY: Record<string, () => string> = {
  chain: () => `http://127.0.0.1:${portOf('chain:8899')}/health`,
  mail: () => `http://127.0.0.1:${portOf('mail:8025')}/messages`,
  onramps: () => `http://127.0.0.1:${portOf('onramps:8090')}/health`,
};

const startOne = async (name: string): Promise<void> => {
  const service = services[name]!;
  if (['postgres', 'nats', 'redis'].includes(name)) {
    await supervisor.start([await server(name)]);
    const { POSTGRES_DB, POSTGRES_PASSWORD } = name === 'postgres' ? variablesOf(name) : {};
    const url = `postgres://postgres:${POSTGRES_PASSWORD}@127.0.0.1:${portOf('postgres:5432')}/postgres`;
    if (POSTGRES_DB !== undefined) await ensureDatabase(url, POSTGRES_DB);
    return;
  }
  const env = variablesOf(name);
  if (jobs.has(name)) {
    const { status, stderr } = spawnSync(process.execPath, [programOf(service)], { env, encoding: 'utf8' });
    expect([name, status, stderr]).toEqual([name, 0, expect.anything()]);
    return;
  }
  const ready = READY[name] ?? (() => `http://127.0.0.1:${env.HTTP_PORT}/v1/health/ready`);
  const args = [programOf(service)];
  await supervisor.start([
    { name, kind: 'service', command: process.execPath, args, env, ready: () => responds(ready()) },
  ]);
};

const jobs = new Set(
  Object.values(services).flatMap(({ depends_on = {} }) =>
    Object.entries(depends_on).flatMap(([name, { condition }]) =>
      condition === 'service_completed_successfully' ? [name] : [],
    ),
  ),
);

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'compose-'));
  mkdirSync(path.join(folder, 'data-nats'));
  files = composeFiles(folder);
  const picker = createPortPicker();
  for (const address of [
    'postgres:5432',
    'nats:4222',
    'redis:6379',
    'mail:1025',
    'mail:8025',
    'onramps:8090',
  ])
    ports.set(address, await picker.any());
  for (const address of ['chain:8899', 'chain:8901']) ports.set(address, await picker.anyPair());
  for (const name of names)
    if (services[name]!.image === 'quittance:local') ports.set(`${name}:3000`, await picker.any());
  supervisor = createSupervisor({ logDir: folder, stackFile: path.join(folder, 'stack.json') });

  const started = new Map<string, Promise<void>>();
  /**
   * Starts everything at once, as Compose does. A process starts when the processes that it depends
   * on are ready. The gateway becomes ready together with the others.
   */
  const up = (name: string): Promise<void> => {
    const known = started.get(name);
    if (known !== undefined) return known;
    const own = Promise.all(Object.keys(services[name]!.depends_on ?? {}).map(up)).then(() => startOne(name));
    started.set(name, own);
    return own;
  };
  await Promise.all(names.map(up));
});

afterAll(async () => {
  await supervisor.stop();
  for (const each of [outsideFolder(folder), folder]) rmSync(each, { recursive: true, force: true });
});

test('the processes of compose.yaml, with their variables and in their order, make a payment', async () => {
  expect(jobs).toEqual(new Set(['migrate', 'setup-bus', 'seed']));
  const { USDC_MINT, FEE_WALLET } = variablesOf('settlement');
  const stack = {
    gateway_url: `http://127.0.0.1:${portOf('gateway:3000')}`,
    mail_url: `http://127.0.0.1:${portOf('mail:8025')}`,
    environments: {
      test: {
        rpc_url: `http://127.0.0.1:${portOf('chain:8899')}`,
        usdc_mint: USDC_MINT,
        fee_wallet: FEE_WALLET,
      },
    },
  } as unknown as Stack;
  const lines: string[] = [];
  await transcript(stack, (line) => lines.push(line), folder);
  expect(lines.join('\n')).toMatch(/redeemed at /);
});
