import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { checksumsOf } from './checksums.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'checksums-'));
  write('services/quote/migrations/0001_initial.sql', 'create table t (id text);\n');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));
const write = (file: string, text: string) => {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
};
const listed = (text: string) => [...text.matchAll(/'(\S+\.sql)'/g)].map(([, file]) => file);

test('new migrations get their line, and the lines before stay', () => {
  const before = checksumsOf(root, '');
  expect(listed(before)).toEqual(['services/quote/migrations/0001_initial.sql']);
  write('services/quote/migrations/0002_more.sql', 'alter table t add more text;\n');
  write('shared/db/migrations/0001_initial.sql', 'create table u (id text);\n');
  const after = checksumsOf(root, before);
  expect(listed(after)).toEqual([
    'services/quote/migrations/0001_initial.sql',
    'services/quote/migrations/0002_more.sql',
    'shared/db/migrations/0001_initial.sql',
  ]);
  const [, checksum] = /'([0-9a-f]{64})'/.exec(before)!;
  expect(after).toContain(checksum);
});

test.each([
  ['a comment', (file: string) => write(file, '-- what it is for\ncreate table t (id text);\n')],
  ['a column', (file: string) => write(file, 'create table t (id text, more text);\n')],
  ['its removal', (file: string) => rmSync(path.join(root, file))],
])('a change of a migration is refused with what to do: %s', (_, change) => {
  const before = checksumsOf(root, '');
  change('services/quote/migrations/0001_initial.sql');
  expect(() => checksumsOf(root, before)).toThrow(
    /^services\/quote\/migrations\/0001_initial\.sql has changed or is gone: restore it, .* write the change as the next one/,
  );
});
