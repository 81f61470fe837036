import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { build as bundle } from 'esbuild';
import { build, buildOf } from './version.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const folder = mkdtempSync(path.join(tmpdir(), 'quittance-version-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('sources have the version of package.json, and the commit that their build names', () => {
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  expect(build).toEqual({ version, commit: 'unknown' });
  expect(buildOf(root, '1a2b3c4')).toEqual({ version, commit: '1a2b3c4' });
  expect(buildOf(root, '')).toEqual({ version, commit: 'unknown' });
});

test('a bundle knows its build where no sources are', async () => {
  const file = path.join(folder, 'version.mjs');
  await bundle({
    stdin: {
      contents: "import { build } from './version.ts'; console.log(JSON.stringify(build));",
      resolveDir: import.meta.dirname,
    },
    outfile: file,
    bundle: true,
    format: 'esm',
    platform: 'node',
    define: { QUITTANCE_BUILD: JSON.stringify({ version: '9.8.7', commit: '1a2b3c4' }) },
  });
  const { stdout } = spawnSync(process.execPath, [file], { cwd: folder, encoding: 'utf8' });
  expect(JSON.parse(stdout)).toEqual({ version: '9.8.7', commit: '1a2b3c4' });
});
