import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { build } from 'esbuild';
import { installTool } from '../../../test/support/node-versions.ts';

const run = promisify(execFile);
const PROGRAM = path.resolve(import.meta.dirname, '../../../test/support/same-as-fetch.mjs');

/** The first one that the package claims, two that detach the bytes of a body, and the newest. */
test.each(['20.3.0', '20.20', '22.11.0', '24'])(
  'on Node %s a request that costs nothing has the same outcome as by plain fetch',
  async (version) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'node-'));
    try {
      const outfile = path.join(folder, 'pay.mjs');
      const entryPoints = [path.join(import.meta.dirname, 'main.ts')];
      const [node] = await Promise.all([
        installTool('node', version, 'node'),
        build({ entryPoints, bundle: true, format: 'esm', target: 'es2022', outfile }),
      ]);
      const { stdout } = await run(node, [PROGRAM, outfile]);
      expect(JSON.parse(stdout)).toEqual({ compared: expect.any(Number), found: [] });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  300_000,
);
