import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseEnv } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { inherited } from '../../test/support/base/inherited.ts';
import { waitUntil } from '../../test/support/base/wait.ts';
import { composeFiles } from '../compose/init.ts';
import { createPortPicker } from '../local/servers/ports.ts';
import { bundled } from './bundle.ts';

/**
 * Runs every program of both images as process 1 of a PID namespace, as a container does. The
 * kernel has no default action for process 1, so a signal without a handler is lost. The servers of
 * the programs accept connections and never answer.
 */
const root = path.resolve(import.meta.dirname, '../..');
const folder = mkdtempSync(path.join(tmpdir(), 'signals-'));
const files = composeFiles(folder);

/** The name of a copy without any row, which `restore` accepts before it connects. */
const COPY = '2026-11-21T16-23-59Z';
const writeCopy = (): void => {
  const manifest = {
    format: 1,
    database: 'quittance_test',
    taken_at: '2026-11-21T16:23:59Z',
    migrations: {},
    tables: [],
    sequences: [],
  };
  mkdirSync(path.join(folder, COPY));
  writeFileSync(path.join(folder, COPY, 'manifest.json'), JSON.stringify(manifest));
};

/**
 * The variables in compose.yaml. The jobs for backups are not part of it, and the one for
 * synthetic payments has no accounts there.
 */
const variables = (name: string): NodeJS.Dict<string> => {
  if (name === 'synthetic')
    return {
      ENVIRONMENT: 'test',
      GATEWAY_URL: `http://127.0.0.1:${silentPort}`,
      SYNTHETIC_SERVICE_ID: '01890a5d-ac96-774b-bcce-b302099a8057',
      SYNTHETIC_SERVICE_KEY: 'vendor_test_',
      SYNTHETIC_DELEGATE_KEY: 'dk_test_',
    };
  if (!['backup', 'drill', 'restore'].includes(name)) return parseEnv(files[`${name}.env`]!);
  const { POSTGRES_ADMIN_URL } = parseEnv(files['migrate.env']!);
  const { SOLANA_RPC_URLS } = parseEnv(files['chain-submitter.env']!);
  const operator = { BACKUP: COPY, ACTOR: 'jane', REASON: 'ticket 1042' };
  return { POSTGRES_ADMIN_URL, SOLANA_RPC_URLS, BACKUPS_FOLDER: folder, ...operator };
};

/**
 * If a namespace cannot be created, the exit code still distinguishes a handler from the default
 * action.
 */
const NAMESPACE = ['--pid', '--fork', '--kill-child', '--'];
const canBeFirst = spawnSync('unshare', [...NAMESPACE, 'true']).status === 0;
if (!canBeFirst)
  console.warn('unshare is not available on this machine, so the programs do not run as process 1');

/** The commands of the two images, read from the Dockerfile: the last stage and the sandbox. */
const [sandboxEntry, productEntry] = readFileSync(path.join(root, 'deploy/Dockerfile'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('ENTRYPOINT '))
  .map((line) => (JSON.parse(line.slice('ENTRYPOINT '.length)) as string[]).slice(1));

type Program = { name: string; image: 'product' | 'sandbox'; args: string[] };
const products = globSync(['services/*/main.ts', 'shared/jobs/*.ts'], { cwd: root }).map((file): Program => {
  const name = file.startsWith('services/') ? file.split('/')[1]! : path.basename(file, '.ts');
  return { name, image: 'product', args: [...productEntry!, name] };
});
const { services } = parse(readFileSync(path.join(root, 'deploy/compose.yaml'), 'utf8'), { merge: true }) as {
  services: Record<string, { image: string; command: string[] }>;
};
const sandboxes = Object.entries(services)
  .filter(([, { image }]) => image === 'quittance-sandbox:local')
  .map(([name, { command }]): Program => ({ name, image: 'sandbox', args: [...sandboxEntry!, ...command] }));

let silent: Server;
let silentPort = 0;
const connected = new Set<Socket>();
let programs = '';
const started = new Set<ChildProcess>();
const ports = createPortPicker();

beforeAll(async () => {
  writeCopy();
  programs = await bundled();
  silent = createServer((socket) => {
    connected.add(socket.on('error', () => {}));
  }).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  silentPort = (silent.address() as AddressInfo).port;
});
afterAll(() => {
  for (const child of started) child.kill('SIGKILL');
  for (const socket of connected) socket.destroy();
  silent.close();
  rmSync(folder, { recursive: true, force: true });
});

const SERVERS = /(?<=[@/])(postgres|nats|redis|chain|mail|onramps):\d+/g;

/**
 * The program's variables in compose.yaml, with the names of the servers replaced by the address of
 * the server that never answers.
 */
const environmentOf = async (name: string): Promise<Record<string, string>> => ({
  ...Object.fromEntries(
    Object.entries(variables(name)).flatMap(([key, value]) =>
      // Without the variable the sandboxes listen only on the loopback interface.
      key === 'ONRAMPS_HOST' ? [] : [[key, value!.replaceAll(SERVERS, `127.0.0.1:${silentPort}`)]],
    ),
  ),
  HTTP_HOST: '127.0.0.1',
  HTTP_PORT: String(await ports.any()),
  ...(name === 'chain' && { CHAIN_HOST: '127.0.0.1', CHAIN_PORT: String(await ports.any()) }),
  ...(name === 'mail' && {
    MAIL_HOST: '127.0.0.1',
    MAIL_SMTP_PORT: String(await ports.any()),
    MAIL_HTTP_PORT: String(await ports.any()),
  }),
  ...(name === 'onramps' && { ONRAMPS_PORT: String(await ports.any()) }),
  ...(['chain', 'mail', 'onramps'].includes(name) && {
    [`${name.toUpperCase()}_DATA_DIR`]: mkdtempSync(path.join(folder, name)),
  }),
});

type Running = {
  send: (signal: NodeJS.Signals) => void;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  output: () => string;
};

/** Runs the program as process 1 if that is possible. */
const run = async ({ image, args, name }: Program, more: Record<string, string> = {}): Promise<Running> => {
  const command = [process.execPath, ...args];
  const child = spawn(
    canBeFirst ? 'unshare' : command[0]!,
    canBeFirst ? [...NAMESPACE, ...command] : command.slice(1),
    {
      cwd: image === 'product' ? programs : root,
      env: { ...inherited, ...(await environmentOf(name)), ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  started.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  const ended = once(child, 'exit').then(([code, signal]) => ({ code, signal }));
  void ended.then(() => started.delete(child));
  return {
    output: () => output,
    ended,
    send: (signal) => {
      for (const pid of canBeFirst ? childrenOf(child.pid!) : [child.pid!])
        try {
          process.kill(pid, signal);
        } catch {
          // The process has ended already.
        }
    },
  };
};

const childrenOf = (pid: number): number[] => {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
};

const SIGNALS = [
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const;

const all = [...products, ...sandboxes];

test('this file covers the programs of the images', () => {
  expect(all.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['gateway', 'chain-submitter', 'migrate', 'setup-bus', 'seed', 'mail']),
  );
});

test.each(all)('$name ends on a SIGTERM or SIGINT in its first moments', async (program) => {
  for (const [signal, code] of SIGNALS) {
    const running = await run(program);
    // The signal is repeated, beginning before Node has read a line of our code.
    const asking = setInterval(() => running.send(signal), 20);
    const end = await running.ended;
    clearInterval(asking);
    // A sandbox starts in one step, so its own handler may be the first one to receive the signal.
    const inOrder = program.image === 'sandbox' ? [0] : [];
    // Process 1 may also end by the signal itself, and unshare occasionally reports that.
    const bySignal = canBeFirst ? [{ code: null, signal }] : [];
    const ends = [code, ...inOrder].map((each) => ({ code: each, signal: null }));
    expect([...ends, ...bySignal]).toContainEqual(end);
  }
});

// The gateway opens its port before it reaches its servers, so it drains, which the last tests
// cover. The sandboxes that are servers do not wait for other servers.
const waiting = [...products, ...sandboxes.filter(({ name }) => name === 'seed')].filter(
  ({ name }) => name !== 'gateway',
);
test.each(waiting)('$name ends on one SIGTERM while it waits for its servers', async (program) => {
  const before = connected.size;
  const running = await run(program);
  await waitUntil(() => connected.size > before, { withinMs: 30_000 });
  running.send('SIGTERM');
  expect({ end: await running.ended, output: running.output() }).toMatchObject({
    end: { code: 143, signal: null },
  });
});

const gateway = products.find(({ name }) => name === 'gateway')!;
const listening = async () => {
  const running = await run(gateway, { DRAIN_SECONDS: '3' });
  await waitUntil(() => running.output().includes('"msg":"listening"'), { withinMs: 30_000 });
  return running;
};

test('SIGTERM starts a drain that completes with exit code 0', async () => {
  const running = await listening();
  const startedAt = performance.now();
  running.send('SIGTERM');
  expect(await running.ended).toEqual({ code: 0, signal: null });
  expect(performance.now() - startedAt).toBeGreaterThan(2500);
});

test('a second signal during the drain ends the process at once with exit code 1', async () => {
  for (const [signal] of SIGNALS) {
    const running = await listening();
    running.send('SIGTERM');
    await sleep(500);
    running.send(signal);
    expect(await running.ended).toEqual({ code: 1, signal: null });
    expect(running.output()).toContain(`"signal":"${signal}","msg":"second signal, ending at once"`);
  }
});
