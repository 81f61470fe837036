import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { identify, signal, waitUntilGone } from './process-identity.ts';
import type { ProcessSpec } from './process-spec.ts';
import { createSupervisor, type Supervisor } from './supervisor.ts';

/**
 * Records in a common file when it starts and stops. Its second argument selects its reaction to
 * SIGTERM.
 */
const program = `
import { appendFileSync } from 'node:fs';
const [, , name, onTerm, diary] = process.argv;
const write = (what) => appendFileSync(diary, name + ' ' + what + '\\n');
process.on('SIGTERM', () => {
  if (onTerm === 'ignore') return;
  setTimeout(() => { write('stopped'); process.exit(0); }, 100);
});
process.on('SIGQUIT', () => {});
if (onTerm === 'crash') { console.error('the reason for the crash'); process.exit(3); }
setInterval(() => {}, 1000);
write('started');
`;

let folder = '';
let supervisor: Supervisor | undefined;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'supervisor-'));
  writeFileSync(path.join(folder, 'program.mjs'), program);
});

afterEach(async () => {
  await supervisor?.stop();
  supervisor = undefined;
  rmSync(folder, { recursive: true, force: true });
});

const diary = (): string[] => {
  const file = path.join(folder, 'diary');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
};

function spec(name: string, kind: ProcessSpec['kind'], onTerm = 'stop'): ProcessSpec {
  return {
    name,
    kind,
    command: process.execPath,
    args: [path.join(folder, 'program.mjs'), name, onTerm, path.join(folder, 'diary')],
    ready: async () => diary().includes(`${name} started`),
  };
}

function newSupervisor(options: Partial<Parameters<typeof createSupervisor>[0]> = {}): Supervisor {
  const stackFile = path.join(folder, 'stack.json');
  supervisor = createSupervisor({ logDir: path.join(folder, 'logs'), stackFile, ...options });
  return supervisor;
}

async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries++) {
    if (tries > 500) throw new Error('the condition did not hold within 10 s');
    await sleep(20);
  }
}

test('a killed process starts again with a new pid, and afterReady runs again', async () => {
  let changes = 0;
  let readied = 0;
  const running = newSupervisor({ onChange: () => changes++ });
  await running.start([{ ...spec('a', 'service'), afterReady: async () => void readied++ }]);
  const before = running.pids().a!;
  const changesBefore = changes;

  process.kill(before, 'SIGKILL');
  await until(() => ![undefined, before].includes(running.pids().a));
  await until(() => readied === 2);

  expect(identify(running.pids().a!)).toBeDefined();
  expect(changes).toBeGreaterThan(changesBefore);
});

test('a replaced process stops in its own time and starts again, and the others run on', async () => {
  const printed: string[] = [];
  const running = newSupervisor({ print: (line) => printed.push(line) });
  const times = (line: string) => diary().filter((each) => each === line).length;
  const ready = async () => times('a started') > times('a stopped');
  await running.start([{ ...spec('a', 'service'), ready }, spec('b', 'service')]);
  const before = running.pids();
  await running.replace(['a']);
  expect(running.pids().a).not.toBe(before.a);
  expect(running.pids().b).toBe(before.b);
  expect([times('a started'), times('a stopped'), times('b started')]).toEqual([2, 1, 1]);
  expect(printed).toEqual([]);

  writeFileSync(path.join(folder, 'program.mjs'), "throw new Error('the new code is broken');");
  await expect(running.replace(['a'])).rejects.toThrow('the new code is broken');
  writeFileSync(path.join(folder, 'program.mjs'), program);
  await running.replace(['a']);
  expect(running.pids().a).toBeDefined();
});

test('all services stop before the first server gets its signal', async () => {
  const running = newSupervisor();
  await running.start([spec('server', 'server'), spec('tool', 'tool'), spec('service', 'service')]);
  await running.stop();
  expect(diary().slice(-3)).toEqual(['service stopped', 'tool stopped', 'server stopped']);
});

test('a process that does not stop is killed', async () => {
  const said: string[] = [];
  const running = newSupervisor({ graceMilliseconds: 200, print: (line) => said.push(line) });
  await running.start([spec('stubborn', 'service', 'ignore')]);
  const pid = running.pids().stubborn!;
  await running.stop();
  expect(identify(pid)).toBeUndefined();
  expect(said).toContain('[stubborn] did not stop in 200 ms and was killed');
});

test('a process that keeps crashing fails the start with its last output', async () => {
  const said: string[] = [];
  const running = newSupervisor({ print: (line) => said.push(line) });
  const start = running.start([spec('broken', 'service', 'crash')]);
  await expect(start).rejects.toThrow(/broken does not start.*\n {2}the reason for the crash/);
  expect(said).toContain('[broken] exited with code 3, starting again in 100 ms');
  expect(said).toContain('[broken]   the reason for the crash');
});

test('a missing command fails the start', async () => {
  const start = newSupervisor().start([{ ...spec('missing', 'server'), command: '/no/such/command' }]);
  await expect(start).rejects.toThrow(/missing does not start/);
});

test.each(['stop', 'ignore'])(
  'kill -9 of the supervisor leaves nothing running (children that %s)',
  async (onTerm) => {
    const stackFile = path.join(folder, 'stack.json');
    const script = `
    import { createSupervisor } from ${JSON.stringify(path.join(import.meta.dirname, 'supervisor.ts'))};
    import { existsSync } from 'node:fs';
    const supervisor = createSupervisor({ logDir: ${JSON.stringify(folder)}, stackFile: ${JSON.stringify(stackFile)} });
    const spec = (name, kind) => ({ name, kind, command: process.execPath, ready: async () => true,
      args: [${JSON.stringify(path.join(folder, 'program.mjs'))}, name, '${onTerm}', ${JSON.stringify(path.join(folder, 'diary'))}] });
    await supervisor.start([spec('a', 'service'), spec('b', 'server')]);
    console.log(JSON.stringify(supervisor.pids()));
  `;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const pids = await new Promise<number[]>((resolve) => {
      parent.stdout.once('data', (data: Buffer) => resolve(Object.values(JSON.parse(data.toString()))));
    });
    await until(() => diary().length === 2);
    writeFileSync(stackFile, '{}');
    const children = pids.map((pid) => identify(pid)!);
    expect(children).toHaveLength(2);

    signal(parent.pid!, 'SIGKILL');

    expect(await waitUntilGone(children, 10_000)).toBe(true);
    expect(existsSync(stackFile)).toBe(false);
  },
);

test('an answer of another program on the port is not taken for that of the process', async () => {
  const other = createServer((_request, response) => response.end('ready')).listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const blocked = `require('node:http').createServer().listen(${port}, '127.0.0.1')`;
  const starting = newSupervisor().start([
    {
      name: 'blocked',
      kind: 'service',
      command: process.execPath,
      args: ['--eval', blocked],
      port,
      ready: async () => (await fetch(`http://127.0.0.1:${port}`)).ok,
    },
  ]);
  const isLinux = process.platform === 'linux';
  if (isLinux) await expect(starting).rejects.toThrow(/blocked does not start[\s\S]*EADDRINUSE/);
  else await starting;
  other.close();
});
