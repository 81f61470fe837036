import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { checkStateFormat, refusalOfStart } from './state-format.mjs';

const repository = path.resolve(import.meta.dirname, '../../..');
/** A tree with nothing but checksums. */
let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'state-format-'));
  migrations({ '0001_initial.sql': 'a' });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const state = () => path.join(root, '.local');
/** As `npm run generate` writes them, with one digit for each file. */
const migrations = (files: Record<string, string>) => {
  const lines = Object.entries(files).map(
    ([name, digit]) => `  'services/quote/migrations/${name}':\n    '${digit.repeat(64)}',\n`,
  );
  mkdirSync(path.join(root, 'shared/db'), { recursive: true });
  writeFileSync(
    path.join(root, 'shared/db/checksums.ts'),
    `export const CHECKSUMS = {\n${lines.join('')}};\n`,
  );
};
/** The first start of a commit, which creates a database. */
const firstStart = () => {
  mkdirSync(state());
  checkStateFormat(state(), root);
  writeFileSync(path.join(state(), 'postgres-password'), 'secret');
};
const refusal = (args: string[] = [], env: NodeJS.ProcessEnv = {}) => refusalOfStart(root, args, env);

test('a state starts again, also with a new migration', () => {
  expect(refusal()).toBeUndefined();
  firstStart();
  expect(refusal()).toBeUndefined();
  migrations({ '0001_initial.sql': 'a', '0002_more.sql': 'b' });
  expect(refusal()).toBeUndefined();
  expect(() => checkStateFormat(state(), root)).not.toThrow();
});

test.each([
  ['was changed', { '0001_initial.sql': 'c', '0002_more.sql': 'b' }, '0001_initial.sql'],
  ['is of a later commit', { '0001_initial.sql': 'a' }, '0002_more.sql'],
])('a state with a migration that %s is refused in one line that says what to do', (_, files, name) => {
  migrations({ '0001_initial.sql': 'a', '0002_more.sql': 'b' });
  firstStart();
  migrations(files);
  const line = `The state in ${state()} is of another commit, with another services/quote/migrations/${name}, and cannot be used by this one: start that commit, or start without the state by npm start -- --fresh`;
  expect(refusal()).toBe(line);
  expect(() => checkStateFormat(state(), root)).toThrow(line);
});

test('a database without a record, or of another format, is of another commit', () => {
  mkdirSync(state());
  writeFileSync(path.join(state(), 'postgres-password'), 'secret');
  expect(refusal()).toMatch(/is of another commit, and cannot/);
  writeFileSync(path.join(state(), 'state-format.json'), '{ "format": 3, "databases": 1, "migrations": {} }');
  expect(refusal()).toMatch(/is of another commit, and cannot/);
});

test.each([
  [['--fresh'], {}],
  [['--help'], {}],
  [[], { POSTGRES_URL: 'postgres://127.0.0.1/' }],
  [[], { POSTGRES_URL_QUOTE: 'postgres://127.0.0.1/' }],
  [[], { STATE_DIR: '/nowhere' }],
])('a start with %j and %j does not use the state', (args, env) => {
  firstStart();
  migrations({ '0001_initial.sql': 'c' });
  expect(refusal(args, env)).toBeUndefined();
});

test('a state is of a number of servers, on which its records are', () => {
  firstStart();
  expect(() => checkStateFormat(state(), root, 1)).not.toThrow();
  expect(() => checkStateFormat(state(), root, 7)).toThrow('is of --databases 1: start with that');
  expect(() => checkStateFormat(state(), root, 1)).not.toThrow();
});

test.each(['start', 'dev'])(
  'npm %s refuses the state of another commit before it installs anything',
  (door) => {
    // A clone of this commit, in which nothing is installed yet.
    for (const part of [
      'tools/run.mjs',
      'tools/doors.mjs',
      'deploy/local',
      'package.json',
      'package-lock.json',
    ])
      cpSync(path.join(repository, part), path.join(root, part), { recursive: true });
    firstStart();
    migrations({ '0001_initial.sql': 'c' });
    const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(root, 'tools/run.mjs'), door], {
      encoding: 'utf8',
      env: { PATH: '/nowhere' },
    });
    expect(stderr).toMatch(/^The state in .* is of another commit, .*\n$/);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(existsSync(path.join(root, 'node_modules'))).toBe(false);
  },
);
