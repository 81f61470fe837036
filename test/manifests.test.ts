import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';

/**
 * The packages that are installed alone are built and tested with the packages of the root, so they
 * depend on the same versions.
 */
const root = path.resolve(import.meta.dirname, '..');
type Manifest = {
  name: string;
  version: string;
  license: string;
  files: string[];
  bin?: Record<string, string>;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
};
const manifestOf = (folder: string) =>
  JSON.parse(readFileSync(path.join(root, folder, 'package.json'), 'utf8')) as Manifest;
const own = manifestOf('.');
const textOf = (file: string) => readFileSync(path.join(root, file), 'utf8');

describe.each(['mcp', 'cli', 'gate'])('%s', (folder) => {
  const { version, license, files, dependencies = {}, peerDependencies = {} } = manifestOf(folder);

  test('depends on the versions of the root', () => {
    const tested = { ...own.dependencies, ...own.devDependencies };
    for (const [name, wanted] of Object.entries({ ...dependencies, ...peerDependencies }))
      expect([name, wanted]).toEqual([name, tested[name]]);
  });

  test('has the version and the license of the SDK, and publishes its build only', () => {
    const sdk = manifestOf('sdk');
    expect([version, license, files]).toEqual([sdk.version, sdk.license, ['dist']]);
    expect(textOf(`${folder}/LICENSE`)).toBe(textOf('sdk/LICENSE'));
  });
});

describe('.github', () => {
  const files = globSync('.github/**/*.yml', { cwd: root });
  const parsed = (file: string): unknown => parse(textOf(file), { strict: true, uniqueKeys: true });

  test('every file is YAML', () => {
    expect(files.length).toBeGreaterThan(2);
    for (const file of files) expect([file, parsed(file)]).toEqual([file, expect.any(Object)]);
  });

  test('the workflow runs what a developer runs, with the Node of the package and no right to write', () => {
    type Step = { uses?: string; run?: string; with?: Record<string, string> };
    const { permissions, jobs } = parsed('.github/workflows/ci.yml') as {
      permissions: object;
      jobs: Record<string, { steps: Step[] }>;
    };
    expect(permissions).toEqual({ contents: 'read' });
    const steps = Object.values(jobs).flatMap((job) => job.steps);
    expect(steps.filter(({ run }) => run !== undefined).at(-1)).toEqual({ run: '.ci/run' });
    expect(steps.find(({ uses }) => uses?.startsWith('actions/setup-node@'))?.with).toMatchObject({
      'node-version-file': 'package.json',
    });
  });
});
