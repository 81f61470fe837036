import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import ts from 'typescript';

type Manifest = { dependencies?: Record<string, string>; devDependencies?: Record<string, string> };

const read = (file: string): Manifest => JSON.parse(readFileSync(file, 'utf8'));
const folder = import.meta.dirname;
const { dependencies = {} } = read(path.join(folder, 'package.json'));

const isTest = (file: string) => file.endsWith('.test.ts');
const imports = globSync('**/*.ts', { cwd: folder, exclude: isTest }).flatMap((file) => {
  const { importedFiles } = ts.preProcessFile(readFileSync(path.join(folder, file), 'utf8'), true, true);
  return importedFiles.map(({ fileName }) => ({ file, name: fileName }));
});
const packageName = (name: string) =>
  name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');

test('the local chain imports its own files, Node and the packages that its package.json names', () => {
  const foreign = imports.filter(({ file, name }) => {
    if (name.startsWith('node:')) return false;
    if (!name.startsWith('.')) return !Object.hasOwn(dependencies, packageName(name));
    return path.join(path.dirname(file), name).startsWith('..');
  });
  expect(foreign).toEqual([]);
});

test('the local chain requires the versions that the repository installs', () => {
  const root = read(path.join(folder, '../../../package.json'));
  const installed = { ...root.dependencies, ...root.devDependencies };
  const names = Object.keys(dependencies);
  expect(dependencies).toEqual(Object.fromEntries(names.map((name) => [name, installed[name]])));
});
