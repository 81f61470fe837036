import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { SERVICE_NAMES } from '../shared/contract/service.ts';
import { schemaName } from '../shared/db/names.ts';
import { findingsIn, findingsOf, MIGRATIONS, releasesOf } from '../tools/lint-migrations.ts';

/**
 * Expand, then contract (docs/operations.md, Upgrade): what a release may do to tables that older
 * services still use.
 */
const root = path.resolve(import.meta.dirname, '..');
const releases = ['v0.9.0', 'v1.0.0'];

/** What an expanding migration has. */
test.each([
  [
    'create table refunds (refund_id text primary key, amount bigint not null); create index i on refunds (amount)',
  ],
  ['alter table quotes add column note text'],
  ['alter table quotes add column tries integer not null default 0'],
  ["-- drop column note\ninsert into settings values ('x')"],
  ['alter table quotes alter column note drop not null'],
  ["alter table quotes alter column note set default 'x'"],
  ["alter table quotes add constraint c check (note <> '') not valid"],
  ['alter table quotes validate constraint c'],
  ["alter table quotes drop constraint c, add constraint c check (note in ('a', 'b', 'c')) not valid"],
  ['alter table quotes add constraint f foreign key (note) references notes not valid'],
  ['alter table quotes add constraint u unique using index i'],
  ['alter table quotes set (fillfactor = 80)'],
  ["create or replace function f() returns text language sql as 'select null'"],
  ['-- no transaction\ncreate index concurrently if not exists i on quotes (note)'],
  ['-- no transaction\ncreate unique index concurrently if not exists i on quotes (note)'],
  [
    `-- in batches
     with batch as (select id from q where id > $1 order by id limit 1000),
       changed as (update q set a = b where id in (select id from batch) and a is null)
     select max(id) from batch`,
  ],
  ['-- contract: v1.0.0\nalter table quotes drop column note'],
  ['-- contract: v1.0.0\ndrop table quotes'],
  ['-- no transaction\n-- contract: v1.0.0\ndrop index concurrently if exists i'],
])('%s: nothing is found', async (sql) => {
  expect(await findingsIn(sql, releases)).toEqual([]);
});

/** The rule that finds each of them. */
test.each([
  ['alter table quotes drop column note', 'older-services'],
  ['alter table quotes rename to offers', 'older-services'],
  ['alter table quotes rename column note to remark', 'older-services'],
  ['alter table quotes alter column note drop default', 'older-services'],
  ['alter table quotes drop constraint quotes_note_key', 'older-services'],
  ['drop table quotes', 'older-services'],
  ['DROP TABLE quotes', 'older-services'],
  ['drop view v', 'older-services'],
  ['drop function f()', 'older-services'],
  ['drop type t', 'older-services'],
  ['drop schema s', 'older-services'],
  ['drop trigger t on quotes', 'older-services'],
  ['-- contract: v7.0.0\nalter table quotes drop column note', 'older-services'],
  ['-- contract: v1.0.0\ndrop view v;\nalter table quotes drop column other', 'older-services'],
  ['alter table quotes add constraint n not null note not valid', 'older-services'],
  ['-- no transaction\ndrop index concurrently if exists i', 'older-services'],
  ['alter table quotes add column note text not null', 'adding-required-field'],
  ['alter table quotes alter column note set not null', 'adding-not-nullable-field'],
  ['alter table quotes alter column note type bigint', 'changing-column-type'],
  ['-- contract: v1.0.0\nalter table quotes alter column note type bigint', 'changing-column-type'],
  [
    "alter table quotes add column g text generated always as (note || 'x') stored",
    'adding-field-with-default',
  ],
  ['alter table quotes add column id uuid default gen_random_uuid()', 'adding-field-with-default'],
  ['alter table quotes add column id bigint generated always as identity', 'adding-field-with-default'],
  ['alter table quotes add column id bigserial', 'prefer-identity'],
  ["alter table quotes add constraint c check (note <> '')", 'constraint-missing-not-valid'],
  [
    "alter table quotes add constraint c check (note <> '') not valid; alter table quotes validate constraint c",
    'constraint-missing-not-valid',
  ],
  [
    'alter table quotes add constraint f foreign key (note) references notes',
    'adding-foreign-key-constraint',
  ],
  ['alter table quotes add column note text references notes', 'adding-foreign-key-constraint'],
  ['alter table quotes add constraint u unique (note)', 'disallowed-unique-constraint'],
  ['alter table quotes add column note text unique', 'disallowed-unique-constraint'],
  ['alter table quotes add primary key (id)', 'adding-serial-primary-key-field'],
  ["alter table quotes add column note text check (note <> '')", 'inline-check'],
  ['create index i on quotes (note)', 'require-concurrent-index-creation'],
  ['create unique index i on quotes (note)', 'require-concurrent-index-creation'],
  ['drop index i', 'require-concurrent-index-deletion'],
  ['create index concurrently if not exists i on quotes (note)', 'not-alone'],
  ['-- no transaction\nalter table quotes add column note text', 'not-alone'],
  ['-- no transaction\ncreate index concurrently i on quotes (note)', 'prefer-robust-stmts'],
  ["update quotes set note = 'x'", 'not-in-batches'],
  ['delete from quotes', 'not-in-batches'],
  ['with old as (delete from quotes returning *) insert into kept select * from old', 'not-in-batches'],
  ["-- in batches\nupdate quotes set note = 'x' where note is null", 'no-batch'],
  [
    '-- in batches\nwith gone as (delete from q where id in (select id from q where id > $1 limit 9) returning id) select max(id) from gone',
    'older-services',
  ],
  ['truncate quotes', 'not-listed'],
  ['lock table quotes', 'not-listed'],
  ['with old as (delete from quotes returning *) select * from old', 'not-listed'],
  ['do $$ begin delete from quotes; end $$', 'not-listed'],
  ['select pg_sleep(100)', 'not-listed'],
  ['vacuum full quotes', 'not-listed'],
  ['cluster quotes', 'not-listed'],
  ['reindex table quotes', 'not-listed'],
  ['alter table quotes set unlogged', 'not-listed'],
  ['alter table quotes disable trigger all', 'not-listed'],
  ['alter table quotes attach partition p for values in (1)', 'not-listed'],
  ['create table copy as select * from quotes', 'not-listed'],
  ['grant select on quotes to public', 'not-listed'],
  ['set lock_timeout = 0', 'not-listed'],
])('%s: %s', async (sql, rule) => {
  const findings = await findingsIn(sql, releases);
  expect(findings.map((each) => each.split(': ').find((part) => part === rule))).toContain(rule);
});

test.each(['no transaction', 'in batches'])('a file that runs %s has one statement', async (mode) => {
  const sql = `-- ${mode}\ncreate index concurrently if not exists i on q (a);\ncreate index concurrently if not exists j on q (b)`;
  expect(await findingsIn(sql, releases)).toEqual([expect.stringContaining('has one statement')]);
});

test('each statement of a file is judged by itself, whatever letters stand before it', async () => {
  const sql =
    '-- größer\nalter table quotes add column a text; -- ä\n-- contract: v1.0.0\nalter table quotes drop column b;\nalter table quotes\n  add column c text,\n  drop column d';
  expect(await findingsIn(sql, releases)).toEqual([
    expect.stringMatching(/^alter table quotes add column c text, drop column d: older-services: /),
  ]);
});

test('each migration of a tree after the first is linted', async () => {
  const tree = mkdtempSync(path.join(tmpdir(), 'migrations-'));
  try {
    const folder = path.join(tree, 'services/quote/migrations');
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, '0001_initial.sql'), 'create table t (id text); truncate t;');
    writeFileSync(path.join(folder, '0002_more.sql'), 'truncate t;');
    expect(await findingsOf(tree)).toEqual([
      'services/quote/migrations/0002_more.sql: truncate t: not-listed: TruncateStmt is no statement that a migration may have',
    ]);
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
});

const files = globSync(MIGRATIONS, { cwd: root });
const textOf = (file: string) => readFileSync(path.join(root, file), 'utf8');
const [last] = releasesOf(root);
const git = (...args: string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' });
const why = last === undefined ? ' (skipped: there is no release yet)' : '';
(last === undefined ? test.skip : test)(`the migrations of the last release are unchanged${why}`, () => {
  const released = git('ls-tree', '-r', '--name-only', last!)
    .split('\n')
    .filter((file) => path.matchesGlob(file, MIGRATIONS));
  const changed = released.filter(
    (file) => !files.includes(file) || git('show', `${last}:${file}`) !== textOf(file),
  );
  expect(changed).toEqual([]);
});

/** What the statements of a file name with the schema of a service, without comments. */
const namesWithSchema = (sql: string): string[] => {
  const schemas = SERVICE_NAMES.map(schemaName).join('|');
  return sql.replaceAll(/--.*$/gm, '').match(new RegExp(`"?\\b(${schemas})"?\\s*\\.\\s*"?\\w+`, 'g')) ?? [];
};

test.each([
  ['create table refunds (settlement_id text references settlement.settlements)', 1],
  ['create table refunds (settlement_id text references "settlement"."settlements")', 1],
  ['create view payments as select * from settlements join chain_submitter.intents using (id)', 1],
  ['create table refunds (settlement_id text references settlements) -- of settlement.settlements', 0],
])('%s: %i names of a schema', (sql, names) => {
  expect(namesWithSchema(sql)).toHaveLength(names);
});

// A table of its own schema needs no schema, so any name with one is of another service.
test('no migration names a schema, so that each service can have a Postgres of its own', () => {
  const all = globSync([MIGRATIONS, 'shared/db/*.sql'], { cwd: root }).filter(
    (file) => path.basename(file) !== 'schema.sql',
  );
  expect(all.length).toBeGreaterThan(9);
  const found = all.flatMap((file) => namesWithSchema(textOf(file)).map((name) => `${file}: ${name}`));
  expect(found).toEqual([]);
});
