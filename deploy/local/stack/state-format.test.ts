import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { checkStateFormat, OtherDatabasesError, OtherStateError } from './state-format.ts';

let base: string;
beforeEach(() => {
  base = mkdtempSync(path.join(tmpdir(), 'state-format-'));
  migration('0001_initial.sql', 'create table t (id text); -- the only one');
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const state = () => path.join(base, 'state');
const migration = (name: string, sql: string) => {
  mkdirSync(path.join(base, 'services/quote/migrations'), { recursive: true });
  writeFileSync(path.join(base, 'services/quote/migrations', name), sql);
};
/** The first start of a commit, which creates a database. */
const firstStart = () => {
  mkdirSync(state());
  checkStateFormat(state(), base);
  writeFileSync(path.join(state(), 'postgres-password'), 'secret');
};

test('a state starts again, also with another comment and with a new migration', () => {
  firstStart();
  migration('0001_initial.sql', 'create table t (id text);\n-- the first one\n');
  migration('0002_more.sql', 'alter table t add name text;');
  expect(() => checkStateFormat(state(), base)).not.toThrow();
});

test('a migration that ran and was changed or removed since is refused with what to do', () => {
  firstStart();
  migration('0001_initial.sql', 'create table t (id uuid);');
  expect(() => checkStateFormat(state(), base)).toThrow(OtherStateError);
  expect(() => checkStateFormat(state(), base)).toThrow(
    `The state in ${state()} is of another commit and cannot be used by this one: start that commit, or start without the state by npm start -- --fresh`,
  );
  rmSync(path.join(base, 'services'), { recursive: true });
  expect(() => checkStateFormat(state(), base)).toThrow(OtherStateError);
});

test('a database without a record is of a commit that wrote none', () => {
  mkdirSync(state());
  writeFileSync(path.join(state(), 'postgres-password'), 'secret');
  expect(() => checkStateFormat(state(), base)).toThrow(OtherStateError);
});

test('a state is of a number of servers, on which its records are', () => {
  firstStart();
  expect(() => checkStateFormat(state(), base, 1)).not.toThrow();
  expect(() => checkStateFormat(state(), base, 7)).toThrow(OtherDatabasesError);
  expect(() => checkStateFormat(state(), base, 7)).toThrow('is of --databases 1: start with that');
  expect(() => checkStateFormat(state(), base, 1)).not.toThrow();
});
