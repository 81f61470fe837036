import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { SERVICE_NAMES } from '../shared/contract/service.ts';
import { schemaName } from '../shared/db/names.ts';
import { contractingIn } from '../tools/contracting.ts';

/**
 * Expand, then contract (docs/operations.md, Upgrade): what a release may do to tables that older
 * services still use.
 */
const root = path.resolve(import.meta.dirname, '..');
const releases = ['v0.9.0', 'v1.0.0'];

test.each([
  ['create table refunds (refund_id text primary key, amount bigint not null)', 0],
  ['alter table quotes add column note text', 0],
  ['alter table quotes add column tries integer not null default 0', 0],
  ['create index quotes_by_note on quotes (note)', 0],
  ["-- drop column note\ninsert into settings values ('x')", 0],
  ['alter table quotes alter column note drop not null', 0],
  ['alter table quotes add column note text not null', 1],
  ['alter table quotes drop column note', 1],
  ['alter table quotes\n  add column a text,\n  drop column note,\n  alter column b set not null', 2],
  ['alter table quotes rename to offers', 1],
  ['alter table quotes rename column note to remark', 1],
  ['alter table quotes alter column note type bigint using note::bigint', 1],
  ['alter table quotes alter column note drop default', 1],
  ["alter table quotes add constraint c check (note <> '')", 1],
  ['drop table quotes', 1],
  ['DROP TABLE quotes', 1],
  ['-- contract: v1.0.0\nalter table quotes drop column note', 0],
  ['-- contract: v7.0.0\nalter table quotes drop column note', 1],
  ['-- contract: v1.0.0\nalter table quotes drop column note;\nalter table quotes drop column other', 1],
] as const)('%s: %i findings', (sql, findings) => {
  expect(contractingIn(sql, releases)).toHaveLength(findings);
});

const git = (...args: string[]): string => {
  try {
    return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return '';
  }
};
/** Newest first. */
const tags = git('tag', '--merged', 'HEAD', '--sort=-v:refname', '--list', 'v*').split('\n').filter(Boolean);
const [last] = tags;
const FILES = '{services,shared}/*/migrations/*.sql';
const why = last === undefined ? ' (skipped: there is no release yet, so no older service to support)' : '';

(last === undefined ? test.skip : test)(
  `migrations since the last release only add, and those of the last release are unchanged${why}`,
  () => {
    const released = new Set(git('ls-tree', '-r', '--name-only', last!).split('\n'));
    const findings = globSync(FILES, { cwd: root }).flatMap((file) => {
      const sql = readFileSync(path.join(root, file), 'utf8');
      if (!released.has(file)) return contractingIn(sql, tags).map((finding) => `${file}: ${finding}`);
      return git('show', `${last}:${file}`) === sql
        ? []
        : [`${file}: was part of ${last}; write another migration`];
    });
    expect(findings).toEqual([]);
  },
);

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
  const files = globSync([FILES, 'shared/db/*.sql'], { cwd: root }).filter(
    (file) => path.basename(file) !== 'schema.sql',
  );
  expect(files.length).toBeGreaterThan(9);
  const found = files.flatMap((file) =>
    namesWithSchema(readFileSync(path.join(root, file), 'utf8')).map((name) => `${file}: ${name}`),
  );
  expect(found).toEqual([]);
});
