import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { contractList } from '../shared/contract/index.ts';

/** docs/threat-model.md: each row about a part names the tests that hold it. */
const root = path.resolve(import.meta.dirname, '..');
const page = readFileSync(path.join(root, 'docs/threat-model.md'), 'utf8');

type Row = { section: string; cells: string[] };
/** The rows of the tables, by the heading above them, without heads and rules. */
const rows = page.split(/^## /m).flatMap((text): Row[] => {
  const [section = '', ...lines] = text.split('\n');
  const table = lines.filter((line) => line.startsWith('|')).slice(2);
  return table.map((line) => ({
    section,
    cells: line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  }));
});
const parts = rows.filter(({ section }) => section.startsWith('What the compromise of '));

/** The tests of a cell: `file` “the beginning of a title, or all of it”. */
const named = (cell: string) =>
  [...cell.matchAll(/`([^`]+\.test\.ts)` “(.+?)”(?=;|$)/g)].map(([, file = '', title = '']) => ({
    file,
    title,
  }));

test('every process has a row', () => {
  const processes = parts.filter(({ section }) => section.includes('a process')).map(({ cells }) => cells[0]);
  expect(new Set(processes)).toEqual(new Set(contractList.map(({ name }) => name)));
});

test.each(parts.map(({ cells }) => [cells[0], cells] as const))(
  'the tests that hold the row of %s exist',
  (_part, [, gives, withholds, heldBy = '', ...more]) => {
    expect([gives, withholds, more]).toEqual([expect.stringMatching(/\w/), expect.stringMatching(/\w/), []]);
    const tests = named(heldBy);
    // Every file that the cell names has a title.
    expect(tests).toHaveLength(heldBy.match(/`[^`]+`/g)?.length ?? -1);
    const missing = tests.filter(({ file, title }) => {
      const source = path.join(root, file);
      return !existsSync(source) || !readFileSync(source, 'utf8').includes(title);
    });
    expect(missing).toEqual([]);
  },
);

test('these tests can fail: a renamed test is missed', () => {
  expect(named('`test/contract.test.ts` “no such title”; `test/a.test.ts` “with “quotes” inside”')).toEqual([
    { file: 'test/contract.test.ts', title: 'no such title' },
    { file: 'test/a.test.ts', title: 'with “quotes” inside' },
  ]);
  expect(named('`test/contract.test.ts`, no title')).toEqual([]);
});
