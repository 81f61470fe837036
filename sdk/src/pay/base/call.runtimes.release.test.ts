import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import { installPackages, installTool } from '../../../../test/support/packages/node-versions.ts';
import { NODES, RUNTIMES } from '../../../../test/support/packages/package-matrix.ts';

/** A request that costs nothing has the same outcome by payingFetch as by the platform's fetch. */
const run = promisify(execFile);
const PROGRAM = path.resolve(import.meta.dirname, '../../../../test/support/actors/same-as-fetch.mjs');
const SAME = { compared: expect.any(Number), found: [] };

const folder = mkdtempSync(path.join(tmpdir(), 'runtimes-'));
const outfile = path.join(folder, 'pay.mjs');
beforeAll(async () => {
  const entryPoints = [path.join(import.meta.dirname, '../main.ts')];
  await build({ entryPoints, bundle: true, format: 'esm', target: 'es2022', outfile });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const INSTALL_MS = 300_000;

test.each(NODES)(
  'on Node %s',
  async (version) => {
    const node = await installTool('node', version, 'node');
    expect(JSON.parse((await run(node, [PROGRAM, outfile])).stdout)).toEqual(SAME);
  },
  INSTALL_MS,
);

test.each(RUNTIMES)(
  'on $name',
  async ({ package: name, version, program, args }) => {
    const installed = await installPackages([name, version]);
    const command = path.join(installed, 'node_modules', name, program);
    expect(JSON.parse((await run(command, [...args, PROGRAM, outfile])).stdout)).toEqual(SAME);
  },
  INSTALL_MS,
);
