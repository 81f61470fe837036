import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connect } from 'nats';
import pg from 'pg';
import { loginWith, newNkeySeed, nkeyOf } from '../../shared/bus/nkey.ts';
import { durables } from '../../shared/bus/topology.ts';
import { SERVICE_NAMES } from '../../shared/contract/service.ts';
import { schemaName } from '../../shared/db/names.ts';
import { failpoints } from '../../shared/lib/failpoint.ts';
import { waitUntil } from '../../test/support/base/wait.ts';
import { createSupervisor } from '../local/processes/supervisor.ts';
import { transcript } from '../local/seed/transcript.ts';
import { databaseUrl, ensureDatabase } from '../local/servers/database.ts';
import { natsServer } from '../local/servers/nats-server.ts';
import { createPortPicker } from '../local/servers/ports.ts';
import { outsideFolder } from '../local/servers/postgres-server.ts';
import { programNames } from '../local/stack/programs.ts';
import { type RunningStack, startStack } from '../local/stack/stack.ts';
import { bundle, NODE_FLAGS } from './bundle.ts';

/**
 * The test builds the folder that the Dockerfile copies with the same code. It runs everything in
 * the folder against real servers as a user who owns nothing and may write nothing, so that a
 * missing file is detected.
 */
const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');
/**
 * `nobody`. If the tests are not run by root, the user who runs them, in a folder without write
 * permission.
 */
const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** The variables that arm failpoints in tests. An image must ignore them. */
const crashEverywhere = Object.keys(failpoints)
  .map((name) => `${name}=crash`)
  .join(',');

let folder = '';
let app = '';
let node = '';
let running: RunningStack;
let collector: Server;
/** Paths that the services' exporters posted to. */
const collected = new Set<string>();

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'image-'));
  chmodSync(folder, 0o755);
  app = path.join(folder, 'app');
  await bundle(app);
  execFileSync('chmod', ['-R', 'a-w', app]);
  // The Node of the tests may be in a folder that another user cannot read.
  node = path.join(folder, 'node');
  copyFileSync(process.execPath, node);

  collector = createServer((request, response) => {
    collected.add(request.url ?? '');
    request.resume().on('end', () => response.end());
  }).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const { port } = collector.address() as AddressInfo;
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${port}`;

  const stateDir = path.join(folder, 'state');
  mkdirSync(stateDir);
  running = await startStack({
    stateDir,
    ports: 'any',
    chainSlotMs: 20,
    durable: false,
    serviceCommand: (service) => ({
      command: '/usr/bin/env',
      args: [
        'NODE_ENV=production',
        `TEST_FAILPOINTS=${crashEverywhere}`,
        node,
        ...NODE_FLAGS,
        'main.mjs',
        service,
      ],
      cwd: app,
      ...user,
    }),
  });
});

afterAll(async () => {
  await running?.stop();
  collector?.close();
  execFileSync('chmod', ['-R', 'u+w', app]);
  for (const each of [outsideFolder(path.join(folder, 'state')), folder])
    rmSync(each, { recursive: true, force: true });
});

/** Runs the image's entry point once, with only the given variables in its environment. */
const runOnce = (name: string, env: Record<string, string> = {}) =>
  run(node, [...NODE_FLAGS, 'main.mjs', name], { cwd: app, env, ...user });

test('every service runs from the image’s folder as a user without rights, and a payment succeeds', async () => {
  expect(Object.keys(running.stack.processes)).toEqual(expect.arrayContaining([...programNames]));
  const lines: string[] = [];
  await transcript(running.stack, (line) => lines.push(line), path.join(folder, 'state'));
  expect(lines.join('\n')).toMatch(/redeemed at /);
  for (const name of programNames) {
    const owner = execFileSync('ps', ['-o', 'uid=', '-p', String(running.stack.processes[name])], {
      encoding: 'utf8',
    });
    expect(Number(owner)).toBe(user.uid ?? process.getuid?.());
  }
  if (user.uid === undefined) expect(() => writeFileSync(path.join(app, 'x'), '')).toThrow(/EACCES/);
});

test('the image serves all pages and sends all telemetry', async () => {
  for (const page of [
    '/docs',
    '/docs/guides/webhooks',
    '/docs/search.json',
    '/openapi.json',
    '/llms.txt',
    '/console',
  ])
    expect([page, (await fetch(`${running.stack.gateway_url}${page}`)).status]).toEqual([page, 200]);
  for (const url of Object.values(running.stack.metrics)) expect((await fetch(url)).status).toBe(200);
  await waitUntil(() => collected.has('/v1/traces'), { withinMs: 30_000 });
});

test('the job `migrate` creates every schema in an empty database', async () => {
  const admin = running.stack.postgres_urls.settlement;
  await ensureDatabase(admin, 'quittance_image');
  const url = databaseUrl(admin, 'quittance_image');
  const passwords = Object.fromEntries(SERVICE_NAMES.map((name) => [name, 'x'.repeat(32)]));
  await runOnce('migrate', { POSTGRES_ADMIN_URL: url, DATABASE_PASSWORDS: JSON.stringify(passwords) });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ schema: string }>(
    'select distinct table_schema as schema from information_schema.tables',
  );
  expect(rows.map(({ schema }) => schema)).toEqual(expect.arrayContaining(SERVICE_NAMES.map(schemaName)));
  // The tables of a build with another file.
  const change = (from: string, to: string) =>
    client.query('update quote.migrations set checksum = replace(checksum, $1, $2)', [from, to]);
  await change('a', 'x');
  await expect(
    runOnce('migrate', { POSTGRES_ADMIN_URL: url, DATABASE_PASSWORDS: JSON.stringify(passwords) }),
  ).rejects.toMatchObject({
    code: 78,
    stdout: expect.stringMatching(/^\{"msg":"quote: \S+ is not the file that release .*"\}\n$/),
  });
  await change('x', 'a');
  await client.end();
  await expect(
    runOnce('migrate', { POSTGRES_ADMIN_URL: url, DATABASE_PASSWORDS: '{}' }),
  ).rejects.toMatchObject({
    code: 78,
  });
});

test('the job `backup` writes a copy of that database, and `restore` replaces its rows by it', async () => {
  const copies = path.join(folder, 'copies');
  mkdirSync(copies);
  chmodSync(copies, 0o777);
  const url = databaseUrl(running.stack.postgres_urls.settlement, 'quittance_image');
  const common = { POSTGRES_ADMIN_URL: url, BACKUPS_FOLDER: copies };
  const { copy } = JSON.parse((await runOnce('backup', common)).stdout) as { copy: string };
  const restore = {
    ...common,
    SOLANA_RPC_URLS: running.stack.environments.test!.rpc_url,
    ACTOR: 'jane',
    REASON: 'a test',
  };
  await expect(runOnce('restore', { ...restore, BACKUP: 'unknown' })).rejects.toMatchObject({
    code: 64,
    stdout: expect.stringContaining(copy),
  });
  const lines = (await runOnce('restore', { ...restore, BACKUP: copy })).stdout.trim().split('\n');
  expect(JSON.parse(lines.at(-1)!)).toMatchObject({ msg: 'restored, signing is paused', copy });
});

test('the job `setup-bus` creates streams and consumers in an empty NATS', async () => {
  const stateDir = path.join(folder, 'bus');
  mkdirSync(stateDir);
  const port = await createPortPicker().any();
  const seed = newNkeySeed();
  const accounts = [{ name: 'TEST', users: [{ nkeys: [nkeyOf(seed)] }] }];
  const supervisor = createSupervisor({ logDir: stateDir, stackFile: path.join(stateDir, 'stack.json') });
  await supervisor.start([natsServer({ stateDir, port, accounts })]);
  const servers = `nats://127.0.0.1:${port}`;
  await runOnce('setup-bus', { NATS_URL: servers, NATS_NKEY_SEED: seed });
  const nc = await connect({ servers, ...loginWith(seed) });
  const jsm = await nc.jetstreamManager();
  for (const { stream, durable } of durables())
    expect((await jsm.consumers.info(stream, durable)).name).toBe(durable);
  await nc.close();
  await supervisor.stop();
});

test('a name that is neither a service nor a job is refused with a list of both', async () => {
  for (const name of ['', 'nobody', '../../etc', 'services/quote/main'])
    await expect(runOnce(name)).rejects.toMatchObject({
      code: 78,
      stderr: expect.stringMatching(/chain-submitter.*gateway.*migrate.*setup-bus/),
    });
});

test('a start that fails prints only lines of JSON', async () => {
  const passwords = Object.fromEntries(SERVICE_NAMES.map((name) => [name, 'x'.repeat(32)]));
  const starts: [string, Record<string, string>, RegExp][] = [
    ['nobody', {}, /the image has no program/],
    ['quote', {}, /config: NATS_URL: /],
    [
      'migrate',
      {
        POSTGRES_ADMIN_URL: databaseUrl(running.stack.postgres_urls.settlement, 'does_not_exist'),
        DATABASE_PASSWORDS: JSON.stringify(passwords),
      },
      /start failed/,
    ],
  ];
  for (const [name, env, reason] of starts) {
    const { stdout, stderr } = await runOnce(name, env).then(
      () => ({ stdout: '', stderr: 'it succeeded' }),
      (error: { stdout: string; stderr: string }) => error,
    );
    const lines = `${stdout}${stderr}`.trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg).join('\n')).toMatch(reason);
  }
});

test('the image contains no test code, and nothing that could arm a failpoint', () => {
  const files = globSync('**/*', { cwd: app });
  expect(files).toContain('services/quote/main.js');
  expect(
    files.filter((file) => /\.test\.|test-support|(^|\/)(test|bench|deploy|tools|sdk\/src)\//.test(file)),
  ).toEqual([]);
  expect(files.filter((file) => /\.(ts|env|pem)$/.test(file))).toEqual([]);
  const programs = files
    .filter((file) => /\.m?js$/.test(file))
    .map((file) => [file, readFileSync(path.join(app, file), 'utf8')]);
  // The bundler names each of our sources above its code. None of them may be test code.
  const sources = programs.flatMap(([, text]) => text!.match(/^\/\/ (services|shared)\/\S+\.ts$/gm) ?? []);
  expect(sources.length).toBeGreaterThan(200);
  expect(sources.filter((source) => /\.test\.|test-support/.test(source))).toEqual([]);
  // Without the code that reads the variables, nothing can fill the table of empty hooks.
  expect(
    programs.filter(([, text]) => /TEST_FAILPOINTS|node:test|@jest/.test(text!)).map(([file]) => file),
  ).toEqual([]);
});

test('the image calls native libraries, which keys on PKCS#11 tokens need', async () => {
  const code =
    "const { default: koffi } = await import('koffi'); console.log(koffi.load(null).func('getpid', 'int', [])())";
  const { stdout } = await run(node, ['--input-type=module', '--eval', code], { cwd: app, ...user });
  expect(Number(stdout)).toBeGreaterThan(1);
});

/** The packages inside a program, by the licences beside it: `@scope+name@1.2.3`. */
const held = () =>
  globSync('licences/*', { cwd: app }).map((place) => path.basename(place).replace('+', '/'));

test('the image contains only packages that the lock file marks as production packages', () => {
  const { packages } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { name?: string; version: string; dev?: boolean }>;
  };
  const production = new Set(
    Object.entries(packages).flatMap(([place, { name, version, dev }]) =>
      // An override installs a package under another package's name.
      dev === true ? [] : `${name ?? place.split('node_modules/').at(-1)}@${version}`,
    ),
  );
  expect(held().length).toBeGreaterThan(100);
  expect(held().filter((each) => !production.has(each))).toEqual([]);
});

test('the bill of materials names every package of the image', async () => {
  const { stdout } = await run('npm', ['run', '--silent', 'ops', '--', 'sbom'], {
    cwd: root,
    maxBuffer: 1 << 26,
  });
  type Component = { group?: string; name: string; version: string; components?: Component[] };
  const all = (list: readonly Component[]): Component[] =>
    list.flatMap((each) => [each, ...all(each.components ?? [])]);
  const { components } = JSON.parse(stdout) as { components: Component[] };
  const named = new Set(
    all(components).map(({ group, name, version }) => `${group ? `${group}/` : ''}${name}@${version}`),
  );
  expect([...named].filter((each) => /^(jest|litesvm|@biomejs\/biome)@/.test(each))).toEqual([]);
  expect(held().filter((each) => !named.has(each))).toEqual([]);
});

test('the image’s folder stays below its size limit', () => {
  const kilobytes = Number(execFileSync('du', ['-sk', app], { encoding: 'utf8' }).split('\t')[0]);
  console.log(`the image's folder is ${Math.round(kilobytes / 1024)} MB`);
  expect(kilobytes).toBeLessThan(40 * 1024);
});
