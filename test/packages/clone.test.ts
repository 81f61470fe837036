import { execFile, execFileSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

/** A clone after the set-up of `npm start`, and nothing else. */
const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '../..');
const clone = mkdtempSync(path.join(tmpdir(), 'quittance-clone-'));

beforeAll(async () => {
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 100_000_000,
  });
  for (const file of files.split('\0').filter((name) => name !== '' && existsSync(path.join(ROOT, name)))) {
    mkdirSync(path.dirname(path.join(clone, file)), { recursive: true });
    cpSync(path.join(ROOT, file), path.join(clone, file));
  }
  await run(process.execPath, ['deploy/local/setup.mjs', '--start', '--no-servers'], { cwd: clone });
}, 600_000);
afterAll(() => rmSync(clone, { recursive: true, force: true }));

test.each(['sdk', 'cli', 'mcp'])(
  'npm pack ./%s makes a package',
  async (name) => {
    await run('npm', ['pack', `./${name}`], { cwd: clone });
    expect(globSync(`quittance-${name}-*.tgz`, { cwd: clone })).toHaveLength(1);
  },
  120_000,
);

test('both commands are there', async () => {
  const npx = (...args: string[]) => run('npx', ['--no-install', ...args], { cwd: clone });
  expect((await npx('quittance', '--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect((await npx('quittance-mcp', '--help')).stderr).toContain('Usage: quittance-mcp');
}, 120_000);
