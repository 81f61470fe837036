import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { firstNode, runOn } from '../test/support/packages/node-claims.ts';
import { type InstalledPackage, packages } from '../test/support/packages/packages.ts';

/**
 * The package as it is published: packed, and installed without a network into an empty project.
 */
const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '..');
const env = { ...process.env, PATH: `${ROOT}/node_modules/.bin${path.delimiter}${process.env.PATH}` };
const manifest = (folder: string) =>
  JSON.parse(readFileSync(path.join(ROOT, folder, 'package.json'), 'utf8')) as {
    version: string;
    dependencies: Record<string, string>;
    devDependencies: Record<string, string>;
  };

let cli: InstalledPackage;
let tarball: string;
beforeAll(async () => {
  const packed = await packages();
  [cli, tarball] = [packed.install('cli'), packed.tarball('cli')];
}, 300_000);
afterAll(() => cli?.remove());

const quittance = (...args: string[]) =>
  run('npx', ['--no-install', 'quittance', ...args], {
    cwd: cli.project,
    env: { ...env, XDG_CONFIG_HOME: cli.project, QUITTANCE_KEY: '', QUITTANCE_URL: '' },
  }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
      code,
      stdout,
      stderr,
    }),
  );

test('the tarball works by npx alone', async () => {
  expect(await quittance('--version')).toMatchObject({ code: 0, stdout: `${manifest('cli').version}\n` });
  expect((await quittance('pay', '--help')).stdout).toContain('Usage: quittance pay [options] <url>');
  expect(await quittance('whoami')).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('not signed in to test at http://127.0.0.1:3402'),
  });
});

test('the tarball has the command, the README and the licence only, and is small', async () => {
  const files = readdirSync(cli.installed, { recursive: true, encoding: 'utf8' });
  expect(files.sort()).toEqual([
    'LICENSE',
    'README.md',
    'dist',
    'dist/program.js',
    'dist/quittance.js',
    'package.json',
  ]);
  const bytes = statSync(tarball).size;
  console.log(`cli: the packed tarball has ${(bytes / 1000).toFixed(1)} kB`);
  expect(bytes).toBeLessThan(130_000);
});

test('its dependencies have the versions of the root, and the bundle imports nothing else', () => {
  const { devDependencies } = manifest('.');
  const { dependencies } = manifest('cli');
  for (const [name, version] of Object.entries(dependencies))
    expect([name, version]).toEqual([name, devDependencies[name]]);
  const bundle = readFileSync(path.join(cli.installed, 'dist/program.js'), 'utf8');
  const imported = [...bundle.matchAll(/^import .* from "([^"]+)";$/gm)].map(([, name]) => name!);
  const packages = new Set(imported.filter((name) => !name.startsWith('node:')));
  expect([...packages]).toEqual(['commander']);
});

test('the first Node that it claims runs it, and an older one gets one sentence', async () => {
  const args = ['dist/quittance.js', ['pay', '--help']] as const;
  expect(await runOn(firstNode(cli), cli, ...args)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Usage: quittance pay'),
    stderr: '',
  });
  expect(await runOn('20.3.0', cli, ...args)).toEqual({
    code: 1,
    stdout: '',
    stderr: 'quittance needs Node 22.19 or newer, and this is Node 20.3.0.\n',
  });
}, 300_000);
