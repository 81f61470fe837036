import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { installPackages } from '../support/packages/node-versions.ts';
import { type InstalledPackage, packages } from '../support/packages/packages.ts';

/** The packed SDK in a bundle of webpack. sdk/build.release.test.ts has esbuild and vite. */
const run = promisify(execFile);

let sdk: InstalledPackage;
beforeAll(async () => {
  sdk = (await packages()).install('sdk');
}, 300_000);
afterAll(() => sdk?.remove());

test.each([
  ['entry.mjs', `import { payingFetch } from '@quittance/sdk/pay'; export default payingFetch;`],
  ['entry.cjs', `module.exports = { default: require('@quittance/sdk/pay').payingFetch };`],
])(
  '%s',
  async (file, code) => {
    const installed = await installPackages(['webpack', '5.113.0']);
    const entry = path.join(sdk.project, file);
    writeFileSync(entry, code);
    const output = { path: sdk.project, filename: `${file}.out.cjs`, library: { type: 'commonjs2' } };
    const options = { mode: 'production', target: 'web', entry, output, context: sdk.project };
    const program = `
    const webpack = require(${JSON.stringify(path.join(installed, 'node_modules/webpack'))});
    webpack(${JSON.stringify(options)}, (error, stats) => {
      console.log(JSON.stringify(error?.message ?? stats.toJson({ all: false, errors: true, warnings: true })));
    });`;
    const { stdout } = await run(process.execPath, ['-e', program], { cwd: sdk.project });
    expect(JSON.parse(stdout)).toMatchObject({ errors: [], warnings: [] });
    const bundle = path.join(sdk.project, output.filename);
    expect(typeof createRequire(bundle)(bundle).default).toBe('function');
  },
  300_000,
);
