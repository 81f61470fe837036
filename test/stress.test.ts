import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { treeOf } from '../deploy/local/processes/process-stat.ts';
import { everFailed } from './stress/ever-failed.ts';
import { addRound, type JestRun, nothingYet, table } from './stress/results.ts';

const root = path.resolve(import.meta.dirname, '..');

test('every suite that has failed by chance exists, and is named once', () => {
  expect(everFailed.filter((name) => !existsSync(path.join(root, name)))).toEqual([]);
  expect(new Set(everFailed).size).toBe(everFailed.length);
});

const ended = (name: string, seconds: number, failing: readonly string[] = [], status = 'passed') => ({
  name: path.join(root, name),
  status: failing.length > 0 ? 'failed' : status,
  startTime: 1000,
  endTime: 1000 + seconds * 1000,
  message: '',
  assertionResults: [
    { status: 'passed', fullName: 'one that passes' },
    ...failing.map((fullName) => ({ status: 'failed', fullName })),
  ],
});
const add = (results: ReturnType<typeof nothingYet>, log: string, run: JestRun | undefined) =>
  addRound(results, run, { root, log });

test('the table counts the rounds of each suite and names its first failure', () => {
  const results = nothingYet(['a.test.ts', 'b.test.ts', 'c.test.ts']);
  expect(
    add(results, '1.log', {
      testResults: [ended('a.test.ts', 2), ended('b.test.ts', 9), ended('c.test.ts', 1, [], 'failed')],
    }),
  ).toEqual(['c.test.ts']);
  expect(
    add(results, '2.log', {
      testResults: [ended('a.test.ts', 3, ['x', 'y']), ended('b.test.ts', 4), ended('c.test.ts', 1)],
    }),
  ).toEqual(['a.test.ts']);
  expect(add(results, '3.log', undefined)).toEqual(['a.test.ts', 'b.test.ts', 'c.test.ts']);
  expect(table(results.values()).split('\n')).toEqual([
    'suite       rounds   passed   failed  slowest  first failure',
    'a.test.ts        3        1        2    3.0 s  x (2.log)',
    'c.test.ts        3        1        2    1.0 s  it could not be loaded (1.log)',
    'b.test.ts        3        2        1    9.0 s  it did not end (3.log)',
  ]);
});

test('a process tree is the process and its descendants', () => {
  const all = [
    { pid: 1, parent: 0 },
    { pid: 7, parent: 5 },
    { pid: 5, parent: 1 },
    { pid: 6, parent: 1 },
    { pid: 8, parent: 7 },
  ];
  expect(treeOf(all, 5).map(({ pid }) => pid)).toEqual([5, 7, 8]);
  expect(treeOf(all, 9)).toEqual([]);
});
