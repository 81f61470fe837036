import { execFile, execFileSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ensureCommands } from '../../deploy/local/setup/commands.mjs';
import { partsForStart } from '../../deploy/local/setup/start-modules.mjs';

/**
 * A clone with the packages that the set-up of `npm start` installs for the servers, and no other.
 * They are copied from this tree, because an installation takes minutes.
 */
const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '../..');
const clone = mkdtempSync(path.join(tmpdir(), 'quittance-clone-'));
const read = (file: string) => JSON.parse(readFileSync(path.join(ROOT, file), 'utf8'));

const copy = (file: string): void => {
  const [source, target] = [path.join(ROOT, file), path.join(clone, file)];
  if (!existsSync(source)) return;
  mkdirSync(path.dirname(target), { recursive: true });
  // What is nested in a package is copied by its own place.
  const nested = path.join(source, 'node_modules');
  cpSync(source, target, { recursive: true, verbatimSymlinks: true, filter: (each) => each !== nested });
};

beforeAll(async () => {
  const listed = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const options = { cwd: ROOT, encoding: 'utf8', maxBuffer: 100_000_000 } as const;
  for (const file of execFileSync('git', listed, options).split('\0')) if (file !== '') copy(file);
  const [servers] = partsForStart(read('package.json'), read('package-lock.json'));
  for (const place of Object.keys(servers.packages)) copy(place);
  const bin = 'node_modules/.bin';
  mkdirSync(path.join(clone, bin), { recursive: true });
  for (const name of ['tsc', 'node'])
    cpSync(path.join(ROOT, bin, name), path.join(clone, bin, name), { verbatimSymlinks: true });
  ensureCommands(clone);
}, 300_000);
afterAll(() => rmSync(clone, { recursive: true, force: true }));

test.each(['sdk', 'cli', 'mcp'])('npm pack ./%s makes a package', async (name) => {
  await run('npm', ['pack', `./${name}`], { cwd: clone });
  expect(globSync(`quittance-${name}-*.tgz`, { cwd: clone })).toHaveLength(1);
});

test('both commands are there', async () => {
  const npx = (...args: string[]) => run('npx', ['--no-install', ...args], { cwd: clone });
  expect((await npx('quittance', '--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect((await npx('quittance-mcp', '--help')).stderr).toContain('Usage: quittance-mcp');
});
