import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

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

let project: string;
let tarball: string;
beforeAll(async () => {
  project = mkdtempSync(path.join(tmpdir(), 'quittance-cli-package-'));
  // From a copy beside the packages of the root, because packing builds.
  const copy = path.join(ROOT, '.local', `cli-package-${process.pid}`);
  for (const folder of ['cli', 'sdk'])
    cpSync(path.join(ROOT, folder), path.join(copy, folder), {
      recursive: true,
      filter: (file) => !/\/(dist|node_modules)$/.test(file),
    });
  const npm = (args: string[]) => run('npm', [...args, '--no-audit', '--no-fund'], { cwd: project, env });
  await npm(['pack', path.join(copy, 'cli'), '--pack-destination', project]);
  tarball = readdirSync(project).find((name) => name.endsWith('.tgz'))!;
  await npm(['pack', path.join(ROOT, 'node_modules/commander'), '--ignore-scripts']);
  rmSync(copy, { recursive: true, force: true });
  writeFileSync(path.join(project, 'package.json'), JSON.stringify({ private: true }));
  const tarballs = readdirSync(project).filter((name) => name.endsWith('.tgz'));
  await npm(['install', '--offline', ...tarballs.map((name) => `./${name}`)]);
}, 300_000);
afterAll(() => rmSync(project, { recursive: true, force: true }));

const quittance = (...args: string[]) =>
  run('npx', ['--no-install', 'quittance', ...args], {
    cwd: project,
    env: { ...env, XDG_CONFIG_HOME: project, QUITTANCE_KEY: '', QUITTANCE_URL: '' },
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
    stderr: expect.stringContaining('not signed in to test at http://127.0.0.1:3000'),
  });
}, 120_000);

test('the tarball has the bundle, the README and the licence only, and is small', async () => {
  const installed = path.join(project, 'node_modules/@quittance/cli');
  const files = readdirSync(installed, { recursive: true, encoding: 'utf8' });
  expect(files.sort()).toEqual(['LICENSE', 'README.md', 'dist', 'dist/quittance.js', 'package.json']);
  const bytes = statSync(path.join(project, tarball)).size;
  console.log(`cli: the packed tarball has ${(bytes / 1000).toFixed(1)} kB`);
  expect(bytes).toBeLessThan(100_000);
});

test('its dependencies have the versions of the root, and the bundle imports nothing else', () => {
  const { devDependencies } = manifest('.');
  const { dependencies } = manifest('cli');
  for (const [name, version] of Object.entries(dependencies))
    expect([name, version]).toEqual([name, devDependencies[name]]);
  const bundle = readFileSync(path.join(project, 'node_modules/@quittance/cli/dist/quittance.js'), 'utf8');
  const imported = [...bundle.matchAll(/^import .* from "([^"]+)";$/gm)].map(([, name]) => name!);
  const packages = new Set(imported.filter((name) => !name.startsWith('node:')));
  expect([...packages]).toEqual(['commander']);
});
