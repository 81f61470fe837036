import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createSupervisor, type Supervisor } from '../processes/supervisor.ts';
import { startWatch, type Watch } from './watch.ts';

/** A tree with two services. Each writes what it is made of into a file, and runs on. */
const SOURCES = {
  'package.json': '{ "version": "1.0.0" }',
  'shared/fee.ts': 'export const fee: number = 1;\n',
  'shared/limit.ts': 'export const limit: number = 1;\n',
  'services/quote/main.ts': `
    import { writeFileSync } from 'node:fs';
    import { fee } from '../../shared/fee.ts';
    writeFileSync(process.argv[2]!, 'fee ' + fee);
    setInterval(() => {}, 1000);`,
  'services/quote/limits/window.lua': 'return 1\n',
  'services/wallet/main.ts': `
    import { writeFileSync } from 'node:fs';
    import { limit } from '../../shared/limit.ts';
    writeFileSync(process.argv[2]!, 'limit ' + limit);
    setInterval(() => {}, 1000);`,
  'services/wallet/migrations/0001_initial.sql': 'select 1;\n',
};
const PROCESSES = { quote: 'quote', 'quote#2': 'quote', wallet: 'wallet' } as const;
const NAMES = Object.keys(PROCESSES);

let root: string;
let supervisor: Supervisor;
let watch: Watch;
let lines: string[];
const write = (file: string, text: string): void => {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
};
const outputOf = (name: string): string => {
  try {
    return readFileSync(path.join(root, `.local/${name}.out`), 'utf8');
  } catch {
    return '';
  }
};
const printed = async (text: string): Promise<void> => {
  for (let tries = 0; !lines.some((line) => line.includes(text)); tries += 1) {
    if (tries > 1000) throw new Error(`not printed within 20 s: ${text}, but\n${lines.join('\n')}`);
    await sleep(20);
  }
};

beforeEach(async () => {
  root = mkdtempSync(path.join(tmpdir(), 'watch-'));
  for (const [file, text] of Object.entries(SOURCES)) write(file, text);
  lines = [];
  watch = await startWatch({ print: (line) => lines.push(line), inspected: 'wallet', root });
  const local = path.join(root, '.local');
  supervisor = createSupervisor({ logDir: local, stackFile: path.join(local, 'stack.json') });
  await supervisor.start(
    Object.entries(PROCESSES).map(([name, service]) => {
      const { command, args } = watch.serviceCommand(service, name);
      const output = path.join(local, `${name}.out`);
      return {
        name,
        kind: 'service',
        command,
        // Each run has a port of its own for the debugger.
        args: [...args.map((each) => each.replace(/^(--inspect=.*:)\d+$/, '$10')), output],
        prepare: () => rmSync(output, { force: true }),
        ready: async () => outputOf(name) !== '',
      };
    }),
  );
  const stack = { processes: supervisor.pids() };
  watch.replaceIn({ stack: stack as never, replace: supervisor.replace });
});
afterEach(async () => {
  await watch.stop();
  await supervisor.stop();
  rmSync(root, { recursive: true, force: true });
});

/** The processes that are others than before a change. */
const replacedBy = async (change: () => void, text: string): Promise<string[]> => {
  const before = supervisor.pids();
  change();
  await printed(text);
  const after = supervisor.pids();
  return NAMES.filter((name) => before[name] !== after[name]);
};

test('a change replaces the processes of the service that uses it, and no other', async () => {
  // A test, and a comment: the programs are the same.
  write('services/wallet/wallet.test.ts', 'test();\n');
  write('shared/limit.ts', `// New.\n${SOURCES['shared/limit.ts']}`);
  const replaced = await replacedBy(
    () => write('shared/fee.ts', 'export const fee: number = 2;\n'),
    'replaced quote, quote#2 in',
  );
  expect(replaced).toEqual(['quote', 'quote#2']);
  expect(NAMES.map(outputOf)).toEqual(['fee 2', 'fee 2', 'limit 1']);
  expect(lines).toHaveLength(1);
});

test('a mistake is printed with its place, the services run on, and its repair replaces them', async () => {
  const broken = await replacedBy(
    () => write('shared/limit.ts', 'export const limit = ;\n'),
    'The services run on as they were.',
  );
  expect(broken).toEqual([]);
  expect(lines.join('\n')).toContain('shared/limit.ts:1:21');
  expect(
    await replacedBy(() => write('shared/limit.ts', 'export const limit = 3;\n'), 'replaced wallet'),
  ).toEqual(['wallet']);
  expect(outputOf('wallet')).toBe('limit 3');
});

test('a file that an editor moves into place, and one in a new folder, are seen', async () => {
  const move = () => {
    write('shared/limit.ts~', 'export const limit = 4;\n');
    renameSync(path.join(root, 'shared/limit.ts~'), path.join(root, 'shared/limit.ts'));
  };
  expect(await replacedBy(move, 'replaced wallet')).toEqual(['wallet']);
  lines.length = 0;
  write('shared/money/fee.ts', 'export const half = 0.5;\n');
  write('shared/fee.ts', "export { half as fee } from './money/fee.ts';\n");
  await printed('replaced quote');
  lines.length = 0;
  write('shared/money/fee.ts', 'export const half = 0.25;\n');
  await printed('replaced quote');
  expect(outputOf('quote')).toBe('fee 0.25');
});

test('a script of Redis replaces its service, and a migration waits for the next start', async () => {
  const script = () => write('services/quote/limits/window.lua', 'return 2\n');
  expect(await replacedBy(script, 'replaced quote')).toEqual(['quote', 'quote#2']);
  const migration = 'services/wallet/migrations/0001_initial.sql';
  expect(
    await replacedBy(() => write(migration, 'select 2;\n'), `${migration}: migrations run at the next start`),
  ).toEqual([]);
  expect(readFileSync(path.join(root, '.local/dev', migration), 'utf8')).toBe('select 2;\n');
});

test('a debugger can attach to the inspected service only', () => {
  const log = (name: string) => readFileSync(path.join(root, `.local/${name}.log`), 'utf8');
  expect(log('wallet')).toContain('Debugger listening on ws://127.0.0.1:');
  expect(log('quote')).not.toContain('Debugger');
});
