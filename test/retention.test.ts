import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';

/** Every table has a row: what it holds of people, how long, and what erasure does to it. */
const root = path.resolve(import.meta.dirname, '..');

const tablesIn = (file: string): string[] =>
  [...readFileSync(path.join(root, file), 'utf8').matchAll(/^create table (\w+)/gm)].map(
    ([, table]) => table!,
  );
const ofAll = tablesIn('shared/db/schema.sql');
const tables = globSync('services/*/schema.sql', { cwd: root }).flatMap((file) => {
  const service = file.split(path.sep)[1]!;
  return [...tablesIn(file), ...ofAll].map((table) => `${service}.${table}`);
});
const rows = [
  ...readFileSync(path.join(root, 'docs/retention.md'), 'utf8').matchAll(/^\| `([\w.-]+)` \|(.+)\|$/gm),
];

test('the list of tables is that of the schemas, in order and without a gap', () => {
  expect(rows.map(([, table]) => table)).toEqual([...tables].sort());
});

test.each(rows.map(([, table, rest]) => [table, rest!]))('%s: every column is filled', (_table, rest) => {
  const cells = rest!.split('|').map((cell) => cell.trim());
  expect(cells).toHaveLength(3);
  expect(cells.filter((cell) => cell === '')).toEqual([]);
});
