import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { LONG_FUNCTIONS } from './support/rules/long-functions.ts';
import {
  findBannedWords,
  findDeadExports,
  findFixedSleeps,
  findFlatFiles,
  findFolderCycles,
  findFullFolders,
  findImportCycles,
  findLoneTests,
  findLongFunctions,
  findSharedTables,
  findSpreadLiterals,
  findUnexplainedFolders,
  findWideComments,
  listFiles,
} from './support/rules/tree.ts';

/** Tests the layout of docs/design/layout.md and the terms of docs/glossary.md. */

const files = listFiles();
const inFolders = (folders: RegExp) => files.filter((file) => folders.test(file));

test('no import cycle exists, type-only imports included', () => {
  expect(findImportCycles(files)).toEqual([]);
});

/** Types are generated from the contract, and what is generated from them has types by hand. */
const KNOTS = ['sdk/src/generated ↔ sdk/src/types.ts'];
test('the folders of a service or package are layers: none imports one that imports it', () => {
  expect(findFolderCycles(files)).toEqual(KNOTS);
});

/** The first three are lists that a reader searches by name. The others only get smaller. */
const FULL = ['shared/contract', 'tools/ops', 'console/src/ui', 'test/simulation'];
test('a folder has at most 24 sources, tests not counted', () => {
  const found = findFullFolders(files, 24).map((each) => each.replace(/ \(.*/, ''));
  expect(found.filter((folder) => !FULL.includes(folder))).toEqual([]);
});

test('a folder with more than ten sources has a README, and a README of a room has at most 30 lines', () => {
  expect(findUnexplainedFolders(files, 10)).toEqual([]);
  const rooms = new Set(findFullFolders(files, 10).map((each) => each.replace(/ \(.*/, '')));
  const long = [...rooms].filter(
    (folder) => readFileSync(`${folder}/README.md`, 'utf8').split('\n').length > 31,
  );
  expect(long).toEqual([]);
});

test('no folder is named vendor, which tools take for the code of somebody else', () => {
  expect(inFolders(/(^|\/)vendor\//)).toEqual([]);
});

test('a service contains the files of its composition and folders named by nouns', () => {
  expect(findFlatFiles(files)).toEqual([]);
});

test('every service has a README', () => {
  const services = new Set(inFolders(/^services\//).map((file) => file.split('/')[1]!));
  expect([...services].filter((name) => !files.includes(`services/${name}/README.md`))).toEqual([]);
});

test("a test's name begins with its subject's name", () => {
  expect(findLoneTests(files)).toEqual([]);
});

test('one folder writes a table', () => {
  expect(findSharedTables(files)).toEqual([]);
});

/** The words of the glossary that no name has, in all their forms: those in code letters. */
const bannedWords = (): RegExp => {
  const rows = readFileSync('docs/glossary.md', 'utf8').matchAll(/^\|.*\|.*\|(.*)\|$/gm);
  const words = [...rows].flatMap(([, not]) => [...not!.matchAll(/`([a-z]+)`/g)].map(([, word]) => word!));
  expect(words).toEqual(expect.arrayContaining(['verdict', 'told', 'flight']));
  return new RegExp(`^(${words.join('|')})(s|es|d|ed|ing)?$`);
};
/** A standard term, and a name of MCP. */
const ALLOWED = /in[_-]?flight|^openWorldHint$/i;

test('no name contains a word that the glossary replaces', () => {
  expect(findBannedWords(files, bannedWords(), ALLOWED)).toEqual([]);
});

/**
 * These exports are used outside of this tree: by users of the SDK, a browser, Next, jest, the
 * compiler.
 */
const ENTRIES =
  /^(docs\/site\/src\/content\.config\.ts|sdk\/src\/(main|pay\/main|paywall\/(main|adapter|(adapters|dialects)\/[a-z0-9]+))\.ts|console\/src\/main\.tsx|examples\/next\/app\/.*\/route\.ts|test\/support\/(jest\/((e2e|integration)-(setup|teardown)|release-setup|(stack-)?reporter|empty-folders)|k8s\/(barman|nack))\.ts)$/;

test('every export is imported by another file', () => {
  expect(findDeadExports(files, ENTRIES)).toEqual([]);
});

test('lines of comments have at most 100 characters', () => {
  expect(findWideComments(files)).toEqual([]);
});

test('functions of the product have at most 70 lines, except those of a list that only shrinks', () => {
  const found = new Map(
    findLongFunctions(inFolders(/^(?!test\/)/), 70).map((line) => {
      const [, name, length] = /^(.*) \((\d+)\)$/.exec(line)!;
      return [name!, Number(length)] as const;
    }),
  );
  const known = new Map(Object.entries(LONG_FUNCTIONS));
  expect({
    'new or longer: split it': [...found].filter(([name, length]) => length > (known.get(name) ?? 0)),
    'shorter or gone: update test/support/rules/long-functions.ts': [...known].filter(
      ([name, length]) => (found.get(name) ?? 0) < length,
    ),
  }).toEqual({
    'new or longer: split it': [],
    'shorter or gone: update test/support/rules/long-functions.ts': [],
  });
});

test('no function of services, shared and the SDK has more than 100 lines', () => {
  expect(findLongFunctions(inFolders(/^(services|shared|sdk)\//), 100)).toEqual([]);
});

test('no literal of the product is spread into another', () => {
  expect(findSpreadLiterals(inFolders(/^(?!test\/)/))).toEqual([]);
});

/** The remaining waits for a time. The number may only decrease. */
const FIXED_SLEEPS = 2;

test('a test waits for a condition, not for a time, except in a decreasing number of places', () => {
  expect(findFixedSleeps(files).length).toBeLessThanOrEqual(FIXED_SLEEPS);
});
