import { expect, test } from '@jest/globals';
import {
  findBannedWords,
  findDeadExports,
  findFixedSleeps,
  findFlatFiles,
  findImportCycles,
  findLoneTests,
  findLongFunctions,
  findSharedTables,
  findWideComments,
  listFiles,
} from './support/tree.ts';

/** The layout of docs/design/layout.md and the words of docs/glossary.md, kept by a test. */

const files = listFiles();
const inFolders = (folders: RegExp) => files.filter((file) => folders.test(file));

test('no import goes in a circle, type-only imports included', () => {
  expect(findImportCycles(files)).toEqual([]);
});

test('a service holds main.ts, config.ts and folders named by nouns', () => {
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

/** The unambiguous words of the glossary's right-hand column. `inFlight` is the field's word. */
const BANNED =
  /^(sights?|sightings?|look(s|ed|ing)?|tells?|telling|told|facts?|driv(es?|en|ing)|redriven?|land(s|ed|ing)|launch(es|ed|ing)?|flights?|purses?|portions?|crowded|raced|verdicts?|linger(s|ed)?|together|standings?|viewers?|people|scenes?|desks?|evidence|readings|everybodys?|park(s|ed)?)$/;
const ALLOWED = /in[_-]?flight/i;

test('no name holds a word that the glossary replaces', () => {
  expect(findBannedWords(files, BANNED, ALLOWED)).toEqual([]);
});

/** The SDK's entries and the console's page are read by others than this tree. */
const ENTRIES = /^(sdk\/src\/(main|pay\/main|vendor\/[a-z]+)\.ts|console\/src\/main\.tsx)$/;

test('every export is imported by another file', () => {
  expect(findDeadExports(files, ENTRIES)).toEqual([]);
});

test('lines of comments have at most 100 characters', () => {
  expect(findWideComments(files)).toEqual([]);
});

/** Functions over 70 lines, each with its reason. The list may only get shorter. */
const LONG_FUNCTIONS: Record<string, string> = {};

test('functions of services, shared and the SDK have at most 70 lines, except those of a shrinking list', () => {
  const long = findLongFunctions(inFolders(/^(services|shared|sdk)\//), 70);
  expect(long.map((line) => line.replace(/ \(\d+\)$/, ''))).toEqual(Object.keys(LONG_FUNCTIONS));
  expect(Object.keys(LONG_FUNCTIONS).length).toBeLessThanOrEqual(10);
  expect(findLongFunctions(inFolders(/^(services|shared|sdk)\//), 100)).toEqual([]);
});

test('a test waits for a condition, not for a time', () => {
  expect(findFixedSleeps(files)).toEqual([]);
});
