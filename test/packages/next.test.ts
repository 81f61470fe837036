import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { installPackages } from '../support/packages/node-versions.ts';
import { packages } from '../support/packages/packages.ts';

/**
 * The example of Next, built by Next as its reader builds it: without the variables of the run
 * time.
 */
const run = promisify(execFile);
const EXAMPLES = path.resolve(import.meta.dirname, '../../examples');
const VERSIONS = [
  ['next', '16.4.6'],
  ['react', '19.3.1'],
  ['react-dom', '19.3.1'],
  ['typescript', '5.9.3'],
  ['@types/react', '19.3.0'],
  ['@types/node', '24.19.2'],
  ['ioredis', '6.0.0'],
] as const;

test('next build passes without secrets, and reports at once what the running program needs', async () => {
  const installed = await installPackages(
    ...VERSIONS.map(([name, version]): [string, string] => [name, version]),
  );
  // Below the installed packages, because the bundler finds none by a link to another folder.
  const project = mkdtempSync(path.join(installed, 'shop-'));
  try {
    cpSync(EXAMPLES, project, { recursive: true });
    writeFileSync(path.join(project, 'package.json'), '{"type":"module","private":true}');
    const sdk = path.join(project, 'node_modules/@quittance/sdk');
    mkdirSync(path.dirname(sdk), { recursive: true });
    cpSync((await packages()).files('sdk'), sdk, { recursive: true });
    const next = path.join(installed, 'node_modules/next/dist/bin/next');
    const { stdout, stderr } = await run(process.execPath, [next, 'build', path.join(project, 'next')], {
      cwd: project,
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        CI: '1',
        NO_COLOR: '1',
        NEXT_TELEMETRY_DISABLED: '1',
      },
    });
    expect(stdout).toMatch(/ƒ \/forecast\n.*ƒ \/report\n/);
    expect(`${stdout}${stderr}`).toContain('createPaywall: baseUrl is missing');
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
}, 600_000);
