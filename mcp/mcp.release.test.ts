import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { firstNode, runOn } from '../test/support/packages/node-claims.ts';
import { type InstalledPackage, packages } from '../test/support/packages/packages.ts';

/** The package as it is published. */
let mcp: InstalledPackage;
beforeAll(async () => {
  mcp = (await packages()).install('mcp');
}, 300_000);
afterAll(() => mcp?.remove());

test('the first Node that it claims runs it, and an older one gets one sentence', async () => {
  const args = ['dist/quittance-mcp.js', ['--help']] as const;
  expect(await runOn(firstNode(mcp), mcp, ...args)).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^Usage: quittance-mcp/),
  });
  expect(await runOn('20.3.0', mcp, ...args)).toEqual({
    code: 1,
    stdout: '',
    stderr: 'quittance-mcp needs Node 22.19 or newer, and this is Node 20.3.0.\n',
  });
}, 300_000);
