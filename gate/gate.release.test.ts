import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { firstNode, runOn } from '../test/support/packages/node-claims.ts';
import { type InstalledPackage, packages } from '../test/support/packages/packages.ts';

/** The package as it is published. */
let gate: InstalledPackage;
beforeAll(async () => {
  gate = (await packages()).install('gate');
}, 300_000);
afterAll(() => gate?.remove());

test('the first Node that it claims runs it, and an older one gets one sentence', async () => {
  const run = (version: string, ...args: string[]) => runOn(version, gate, 'dist/quittance-gate.js', args);
  expect(await run(firstNode(gate), '--help')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Usage: quittance-gate/),
  });
  expect(await run(firstNode(gate), '--price', 'GET /a=5')).toEqual({
    code: 64,
    stdout: '',
    stderr:
      "quittance-gate: --price: write '$0.05', '0.05' or '0.05 USDC'; not '5': write '$5' for 5.00 USDC\n",
  });
  expect(await run('20.3.0', '--help')).toEqual({
    code: 1,
    stdout: '',
    stderr: 'quittance-gate needs Node 22.19 or newer, and this is Node 20.3.0.\n',
  });
}, 300_000);
