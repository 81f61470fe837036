import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { doors } from '../doors.mjs';
import { commands } from './commands.ts';
import { runbook, sections } from './runbook.ts';

/** What docs/runbook.md and docs/operations.md say about `npm run ops` exists. */

const names = [...commands.map(({ name }) => name), ...Object.keys(doors.ops.commands!)];
/** The name of the command that a line runs. The singular of a group is accepted. */
const nameOf = (line: string): string | undefined => {
  const words = line.split(' ').filter((word) => !word.startsWith('-') && !word.startsWith('<'));
  const [one = '', two = ''] = words;
  return (
    names.find((name) => name === `${one} ${two}` || name === `${one}s ${two}`) ??
    names.find((name) => name === one)
  );
};

test('each section of the runbook begins with one command that exists', () => {
  expect(sections.length).toBeGreaterThan(40);
  expect(sections.filter(({ command }) => command === null).map(({ name }) => name)).toEqual([]);
  expect(sections.filter(({ command }) => command !== null && nameOf(command) === undefined)).toEqual([]);
});

test('the runbook needs no SQL and no client of a server', () => {
  expect(
    runbook
      .replace(/^## Restoring a database\n[\s\S]*?^## /m, '')
      .match(
        /```sql|\b(select|update|insert into) .* (from|set|values)\b|kubectl|psql|\bnats (stream|consumer)\b/g,
      ),
  ).toBe(null);
});

const page = (name: string) => readFileSync(path.resolve(import.meta.dirname, '../../docs', name), 'utf8');
const operations = page('operations.md');
/** The pages of alarms that are generated (tools/alarms/). */
const generated = [page('objectives.md'), page('runbook-servers.md')];

test('each section of the generated pages begins with one command', () => {
  const own = generated.flatMap((text) => text.split('\n## ').slice(1));
  expect(own.length).toBeGreaterThan(20);
  expect(own.filter((section) => !/^\S+\n\nFirst: `npm run ops -- [^`]+`: \S/.test(section))).toEqual([]);
});

test('the fifteen questions of an operator have one command each, and it exists', () => {
  const table = operations.slice(operations.indexOf('\n## Questions\n')).split('\n## ')[1] ?? '';
  const rows = [...table.matchAll(/^\| (?!Question|---)([^|]+) \| `([^`]+)`/gm)].map(
    ([, question, line]) => ({
      question: question!,
      line: line!,
    }),
  );
  expect(rows).toHaveLength(15);
  expect(rows.filter(({ line }) => nameOf(line) === undefined)).toEqual([]);
});

test('every command that the documents name exists', () => {
  const named = [runbook, operations, ...generated].flatMap((text) => [
    ...text.matchAll(/npm run ops -- ([a-z][^`\n,)]*)/g),
  ]);
  expect(named.length).toBeGreaterThan(60);
  expect(named.map(([, line]) => line!).filter((line) => nameOf(line) === undefined)).toEqual([]);
});
