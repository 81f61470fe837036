import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { addMissing, isAddition, packagesIn } from './packages.mjs';

/** Packages are added to those that a running stack uses. */
let base: string;
beforeEach(() => {
  base = mkdtempSync(path.join(tmpdir(), 'packages-'));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

/** A folder of packages with npm's record of them. Each has one file with the given text. */
const modules = (name: string, text: string, places: readonly string[]): string => {
  const folder = path.join(base, name);
  for (const place of places) {
    mkdirSync(path.join(folder, place), { recursive: true });
    writeFileSync(path.join(folder, place, 'index.js'), text);
  }
  const packages = Object.fromEntries(
    places.map((place) => [`node_modules/${place}`, { version: '1.0.0', integrity: `sha512-${place}` }]),
  );
  writeFileSync(path.join(folder, '.package-lock.json'), JSON.stringify({ lockfileVersion: 3, packages }));
  return folder;
};
const textAt = (folder: string, place: string) => readFileSync(path.join(folder, place, 'index.js'), 'utf8');

test('missing packages come in at each depth, and those that are there stay the same files', () => {
  const part = modules('part', 'part', ['a', '@scope/b', 'c']);
  const complete = modules('all', 'all', ['a', 'a/node_modules/d', '@scope/b', '@scope/e', 'c', 'f']);
  const before = ['a', '@scope/b', 'c'].map((place) => statSync(path.join(part, place, 'index.js')).ino);
  addMissing(complete, part);
  expect(['a', '@scope/b', 'c'].map((place) => textAt(part, place))).toEqual(['part', 'part', 'part']);
  expect(['a', '@scope/b', 'c'].map((place) => statSync(path.join(part, place, 'index.js')).ino)).toEqual(
    before,
  );
  expect(['a/node_modules/d', '@scope/e', 'f'].map((place) => textAt(part, place))).toEqual([
    'all',
    'all',
    'all',
  ]);
  expect(new Set(Object.keys(packagesIn(part)!))).toEqual(
    new Set(
      ['@scope/b', '@scope/e', 'a', 'a/node_modules/d', 'c', 'f'].map((place) => `node_modules/${place}`),
    ),
  );
});

test('a package that is in the record only is not there', () => {
  const folder = modules('node_modules', 'all', ['a', 'a/node_modules/d', 'b']);
  rmSync(path.join(folder, 'a/node_modules/d'), { recursive: true });
  rmSync(path.join(folder, 'b'), { recursive: true });
  expect(Object.keys(packagesIn(folder)!)).toEqual(['node_modules/a']);
});

test('a second addition after an interrupted one brings the rest', () => {
  const part = modules('part', 'part', ['a']);
  const first = modules('first', 'first', ['a', 'b', 'c']);
  rmSync(path.join(first, 'c'), { recursive: true });
  addMissing(first, part);
  addMissing(modules('second', 'second', ['a', 'b', 'c']), part);
  expect(['a', 'b', 'c'].map((place) => textAt(part, place))).toEqual(['part', 'first', 'second']);
});

test('only packages of the same content are an addition; a record without checksum proves nothing', () => {
  const locked = {
    '': {},
    'node_modules/a': { integrity: 'sha512-1' },
    'node_modules/b': { integrity: 'sha512-2' },
  };
  expect(isAddition({ 'node_modules/a': { integrity: 'sha512-1' } }, locked)).toBe(true);
  expect(isAddition({ 'node_modules/a': { integrity: 'sha512-9' } }, locked)).toBe(false);
  expect(isAddition({ 'node_modules/a': { version: '1.0.0' } }, locked)).toBe(false);
  expect(isAddition({ 'node_modules/gone': { integrity: 'sha512-1' } }, locked)).toBe(false);
});

test('a folder that npm did not fill to the end has no record', () => {
  mkdirSync(path.join(base, 'half'));
  expect(packagesIn(path.join(base, 'half'))).toBeUndefined();
});
