import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { changedFiles, filesToCheck, readTree } from './changes.ts';

let root: string;
const write = (file: string, text: string): void => {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
};
const remove = (file: string): void => rmSync(path.join(root, file));

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'changes-'));
  execFileSync('git', ['init', '-q'], { cwd: root });
  write('.gitignore', 'node_modules\n.local\n');
  write('package-lock.json', '{}');
  write('node_modules/.package-lock.json', '{}');
  write('biome.json', '{}');
  write('tools/check.ts', '');
  write('tools/check/checks.ts', '');
  write('fee.ts', 'export const fee = 1;\n');
  write('quotes/create.ts', "import { fee } from '../fee.ts';\n");
  write('alone.ts', '');
  execFileSync('git', ['add', '.'], { cwd: root });
});
afterEach(() => rmSync(root, { recursive: true }));

/** What a check of all files, and one of each file, has to do after a change. */
const after = (change: () => void, patterns = ['.']) => {
  const before = readTree(root)(patterns);
  change();
  const now = readTree(root)(patterns);
  const files = filesToCheck(root, { before, now, settings: ['biome.json'] });
  return { changed: changedFiles(before, now), files: files?.sort() ?? 'all' };
};

test.each<[string, () => void, changed: string[], files: string[] | 'all']>([
  ['nothing', () => {}, [], []],
  ['a file that nothing imports', () => write('alone.ts', '1'), ['alone.ts'], ['alone.ts']],
  ['an imported file', () => write('fee.ts', ''), ['fee.ts'], ['fee.ts', 'quotes/create.ts']],
  ['a new file', () => write('new.ts', ''), ['new.ts'], ['new.ts']],
  ['a deleted file', () => remove('fee.ts'), ['fee.ts'], ['quotes/create.ts']],
  ['an empty file that is deleted', () => remove('alone.ts'), ['alone.ts'], []],
  ['a setting', () => write('biome.json', '{ }'), ['biome.json'], 'all'],
  ['the packages', () => write('package-lock.json', '{ }'), ['package-lock.json'], 'all'],
  [
    'the installed packages',
    () => write('node_modules/.package-lock.json', '{ }'),
    ['node_modules/.package-lock.json'],
    'all',
  ],
  ['the program', () => write('tools/check.ts', '1'), ['tools/check.ts'], 'all'],
  ['its parts', () => write('tools/check/checks.ts', '1'), ['tools/check/checks.ts'], 'all'],
  ['a file that git ignores', () => write('.local/env', '1'), [], []],
])('%s has changed', (_name, change, changed, files) => {
  expect(after(change)).toEqual({ changed, files });
});

test('a file that was put back with an old time has changed', () => {
  const change = () => {
    write('alone.ts', 'const x = 1;');
    utimesSync(path.join(root, 'alone.ts'), 0, 0);
  };
  expect(after(change).changed).toEqual(['alone.ts']);
});

test('a check that reads other files has nothing to do, unless the packages or the program change', () => {
  expect(after(() => write('alone.ts', '1'), ['quotes']).changed).toEqual([]);
  expect(after(() => write('tools/check/checks.ts', '1'), ['quotes']).changed).toHaveLength(1);
  expect(after(() => write('package-lock.json', '[]'), ['quotes']).changed).toHaveLength(1);
});
