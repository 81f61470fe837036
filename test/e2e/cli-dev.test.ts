import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { createConsumer, createDelegate, createVendor, type Vendor } from '../../deploy/local/seed/actors.ts';
import { createApi } from '../../deploy/local/seed/api.ts';
import { waitFor, waitUntil } from '../support/base/wait.ts';
import { createCommandLine } from '../support/packages/command-line.ts';
import { runningStack } from '../support/servers/stack.ts';

/** `quittance dev` in the folder of a vendor, with the real system behind it. */
const stack = runningStack();
const api = createApi(stack.gateway_url);
const line = createCommandLine(stack);

/** What `npm start` leaves in its folder for tools. */
let state: string;
let vendor: Vendor;
let delegateKey: string;
beforeAll(async () => {
  const consumer = await createConsumer(api, stack);
  // `npm start` has made this account, with a service.
  [vendor, { api_key: delegateKey }] = await Promise.all([
    createVendor(api, stack, { email: 'vendor@example.com' }),
    createDelegate(api, consumer, { daily: '10000000' }),
  ]);
  state = mkdtempSync(path.join(tmpdir(), 'quittance-state-'));
  mkdirSync(path.join(state, '.local'));
  writeFileSync(path.join(state, '.local/stack.json'), JSON.stringify(stack));
  writeFileSync(path.join(state, '.local/env'), `export DELEGATE_KEY=${delegateKey}\n`);
});
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});
afterAll(() => {
  line.remove();
  rmSync(state, { recursive: true, force: true });
});

const emptyFolder = (): string => {
  const folder = mkdtempSync(path.join(tmpdir(), 'shop-'));
  folders.push(folder);
  return folder;
};
const envOf = (folder: string) => parseEnv(readFileSync(path.join(folder, '.env'), 'utf8'));
const filled = (folder: string, lines: Record<string, string>) =>
  writeFileSync(
    path.join(folder, '.env'),
    Object.entries(lines)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );
/** No address, so that it must find one. */
const NOWHERE = { QUITTANCE_URL: '' };
const serviceIn = ({ serviceId, apiKey }: Vendor) => ({ SERVICE_ID: serviceId, SERVICE_KEY: apiKey });

test('an empty folder becomes a service with a first sale, which a second run uses again', async () => {
  const cwd = emptyFolder();
  const first = line.start(['dev', '--stack', state], { cwd, env: NOWHERE });
  // The route of this command, paid by it once.
  await waitUntil(() => /delivered +0\.05 USDC, you receive 0\.04 USDC/.test(first.said.out), {
    withinMs: 60_000,
  });
  expect(first.said.err).toBe('');
  const made = envOf(cwd);
  expect(made).toEqual({
    QUITTANCE_URL: stack.gateway_url,
    SERVICE_ID: expect.stringMatching(/^[0-9a-f-]{36}$/),
    SERVICE_KEY: expect.stringMatching(/^vendor_test_/),
    DELEGATE_KEY: delegateKey,
  });
  expect(made.SERVICE_ID).not.toBe(vendor.serviceId);
  expect(statSync(path.join(cwd, '.env')).mode & 0o777).toBe(0o600);
  expect(readFileSync(path.join(cwd, '.gitignore'), 'utf8')).toBe('.env\n');
  expect(first.said.out).toContain(`${stack.console_url}/try`);
  expect(first.said.out).not.toContain(made.SERVICE_KEY);
  expect(first.said.out).not.toContain(delegateKey);

  // What it prints can be pasted.
  const pay = /quittance (pay http:\S+\/hello)/.exec(first.said.out)![1]!;
  const paid = await line.quittance(pay.split(' '), { key: delegateKey });
  expect([paid.code, JSON.parse(paid.out)]).toEqual([0, { hello: 'You have paid for this.' }]);
  await waitUntil(() => first.said.out.split('delivered').length === 3, { withinMs: 60_000 });
  first.child.kill('SIGINT');
  expect((await first.ended).code).toBe(0);

  const before = readFileSync(path.join(cwd, '.env'), 'utf8');
  const second = line.start(['dev', '--json'], { cwd, env: NOWHERE });
  await waitUntil(() => second.said.out.includes('"ready":true'), { withinMs: 60_000 });
  expect(JSON.parse(second.said.out)).toMatchObject({ service_id: made.SERVICE_ID, added: [] });
  second.child.kill('SIGINT');
  await second.ended;
  expect(readFileSync(path.join(cwd, '.env'), 'utf8')).toBe(before);
});

test('the lines of others stay, and the keys of the environment are used without --stack', async () => {
  const cwd = emptyFolder();
  const theirs = 'PORT=8080 # of the shop\nSERVICE_NAME="Maps"';
  writeFileSync(path.join(cwd, '.env'), theirs, { mode: 0o644 });
  execFileSync('git', ['init', '-q'], { cwd });
  const env = { QUITTANCE_URL: stack.gateway_url, ...serviceIn(vendor) };
  const { child, said, ended } = line.start(['dev'], { cwd, env });
  await waitUntil(() => said.out.includes('Sales, from now on'), { withinMs: 60_000 });
  child.kill('SIGINT');
  await ended;
  const text = readFileSync(path.join(cwd, '.env'), 'utf8');
  expect(text.startsWith(`${theirs}\n`)).toBe(true);
  expect(envOf(cwd)).toMatchObject({ PORT: '8080', ...env });
  expect(statSync(path.join(cwd, '.env')).mode & 0o777).toBe(0o600);
  expect(execFileSync('git', ['status', '--porcelain'], { cwd, encoding: 'utf8' })).toBe('?? .gitignore\n');
});

const MISTYPED = 'vendor_test_yRoggzu4BHbYxmZ9zfX6VscdBGqphKQBx0HMY8GqVdo0oILCh';
test.each<[string, (folder: string) => Record<string, string>, string[], number, RegExp]>([
  [
    'no service at all',
    () => ({}),
    [],
    3,
    /no service to sell with[\s\S]*--stack <its folder>[\s\S]*\/services/,
  ],
  ['no npm start there', () => ({}), ['--stack', '.'], 2, /npm start does not run in .*\n.*Run `npm start`/],
  [
    'a file that is not of npm start',
    (folder) => {
      writeFileSync(path.join(folder, 'stack.json'), '[');
      return {};
    },
    ['--stack', '.'],
    2,
    /stack\.json in .* is not of npm start/,
  ],
  [
    'a system of another machine',
    (folder) => {
      const away = { ...stack, mail_url: 'http://mail.example.com' };
      writeFileSync(path.join(folder, 'stack.json'), JSON.stringify(away));
      return {};
    },
    ['--stack', '.'],
    2,
    /stack\.json in .* is not of npm start/,
  ],
  [
    'half a service',
    (folder) => {
      filled(folder, { SERVICE_ID: vendor.serviceId });
      return {};
    },
    [],
    2,
    /\.env has SERVICE_ID and no SERVICE_KEY/,
  ],
  [
    'a mistyped key',
    (folder) => {
      filled(folder, { ...serviceIn(vendor), SERVICE_KEY: MISTYPED });
      return {};
    },
    [],
    2,
    /SERVICE_KEY of \.env is mistyped or incomplete/,
  ],
  [
    'a key that pays',
    (folder) => {
      filled(folder, { ...serviceIn(vendor), SERVICE_KEY: delegateKey });
      return {};
    },
    [],
    2,
    /SERVICE_KEY of \.env is a delegate key, and must be a service key/,
  ],
  [
    'the id of another service',
    (folder) => {
      filled(folder, { ...serviceIn(vendor), SERVICE_ID: crypto.randomUUID() });
      return {};
    },
    [],
    1,
    /both belong to one service/,
  ],
  [
    'another system than in .env',
    (folder) => {
      filled(folder, { QUITTANCE_URL: 'https://api.example.com' });
      return {};
    },
    ['--stack', 'STATE'],
    2,
    /\.env is of https:\/\/api\.example\.com, and this is http:\/\/127\.0\.0\.1/,
  ],
  ['live', () => ({ QUITTANCE_ENVIRONMENT: 'live' }), [], 2, /works in the test environment only/],
  [
    'a .env that is a folder',
    (folder) => {
      mkdirSync(path.join(folder, '.env'));
      return {};
    },
    ['--stack', 'STATE'],
    1,
    /\.env is a folder/,
  ],
])('%s is one sentence and what to do', async (_, prepare, args, exit, message) => {
  const cwd = emptyFolder();
  const env = prepare(cwd);
  const before = readdirSync(cwd);
  const filledIn = args.map((each) => (each === 'STATE' ? state : each));
  const { code, err, out } = await line.quittance(['dev', ...filledIn], { cwd, env });
  expect([code, out]).toEqual([exit, '']);
  expect(err).toMatch(message);
  expect(err).not.toMatch(/\n {4}at /);
  if (exit !== 1) expect(readdirSync(cwd)).toEqual(before);
});

test('a key that the API does not know, and an API that does not run, are sentences', async () => {
  const unknown = createServer((_, response) => {
    response.writeHead(401, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { code: 'unauthorized', message: 'no' } }));
  });
  await new Promise<void>((resolve) => unknown.listen(0, '127.0.0.1', resolve));
  const QUITTANCE_URL = `http://127.0.0.1:${(unknown.address() as AddressInfo).port}`;
  const cwd = emptyFolder();
  filled(cwd, { QUITTANCE_URL, ...serviceIn(vendor) });
  const refused = await line.quittance(['dev'], { cwd, env: NOWHERE });
  expect([refused.code, refused.err]).toEqual([
    3,
    expect.stringMatching(/does not know the SERVICE_KEY of \.env[\s\S]*Next: .*Remove/),
  ]);
  await new Promise((resolve) => unknown.close(resolve));
  const { child, said, ended } = line.start(['dev'], { cwd, env: NOWHERE });
  // It waits for the system, as a vendor may start it later.
  await waitFor(
    () => said.err,
    (text) => /The sales cannot be read now: .*Again in/.test(text),
    60_000,
  );
  child.kill('SIGINT');
  expect((await ended).code).toBe(0);
});

test('a folder that cannot be written gets no service', async () => {
  // The kernel's own folder refuses files to everybody.
  const { code, err } = await line.quittance(['dev', '--stack', state], {
    cwd: '/proc/self/net',
    env: NOWHERE,
  });
  expect(code).toBe(1);
  expect(err).toMatch(/^Error: \/proc\/\S+ (is not yours|is in a place|does not exist)/);
  expect(existsSync('/proc/self/net/.env')).toBe(false);
});
