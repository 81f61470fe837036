import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';

const MODULE = path.join(import.meta.dirname, 'command-line.ts');
const PROGRAM = `
import { flag, positive, readCommandLine, text, texts, whole, wholes } from '${MODULE}';
const { values, words } = readCommandLine({
  typed: 'npm run prove -- faults',
  words: '[name …]',
  about: 'Does something.',
  options: {
    rounds: whole('N', 'how often${', and how often'.repeat(12)}', 5),
    seed: whole('N', 'of the order'),
    sizes: wholes('N,N', 'of the tables', [1, 2]),
    cpu: positive('CORES', 'cores', 0.5),
    only: text('TEXT', 'some', ''),
    name: texts('NAME', 'each'),
    keep: flag('keeps it'),
  },
});
console.log(JSON.stringify({ ...values, words }));
`;
const folder = mkdtempSync(path.join(tmpdir(), 'command-line-'));
const file = path.join(folder, 'program.ts');
writeFileSync(file, PROGRAM);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (...args: string[]) => {
  const given = ['--disable-warning=ExperimentalWarning', file, ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, given, {
    encoding: 'utf8',
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
  });
  return { status, stdout, stderr };
};

test('options have their values or their defaults', () => {
  const defaults = { rounds: 5, sizes: [1, 2], cpu: 0.5, only: '', name: [], keep: false, words: [] };
  expect(JSON.parse(run().stdout)).toEqual(defaults);
  const given = run('--rounds', '7', '--seed', '3', '--sizes', '8,9', '--cpu', '1.5', '--keep', 'a', 'b');
  const { rounds, seed, sizes, cpu, keep, words } = JSON.parse(given.stdout);
  expect([rounds, seed, sizes, cpu, keep, words]).toEqual([7, 3, [8, 9], 1.5, true, ['a', 'b']]);
  expect(JSON.parse(run('--name', 'a', '--name', 'b').stdout).name).toEqual(['a', 'b']);
});

test('--help shows each option with its default, in lines of at most 110 characters', () => {
  const { status, stdout } = run('--help');
  expect(status).toBe(0);
  expect(stdout).toMatch(/^Usage: npm run prove -- faults \[name …\] \[options\]\n\nDoes something\.\n/);
  expect(stdout).toMatch(/--sizes N,N {2}of the tables \(default: 1,2\)/);
  expect(stdout).toMatch(/--seed N {5}of the order\n/);
  expect(stdout.split('\n').filter((line) => line.length > 110)).toEqual([]);
});

test.each([
  [['--rounds', 'x'], '--rounds must be a whole number, not "x"'],
  [['--sizes', '1,-2'], '--sizes must be a whole number, not "1,-2"'],
  [['--cpu', '0'], '--cpu must be a number above 0, not "0"'],
  [['--nothing'], /^Unknown option '--nothing'/],
])('%j is refused above the help, and the process ends with 64', (args, why) => {
  const { status, stderr } = run(...args);
  expect(status).toBe(64);
  expect(stderr.split('\n')[0]).toMatch(why);
  expect(stderr).toContain('Usage: npm run prove -- faults');
});
