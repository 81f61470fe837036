import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DELEGATE_KEY } from '../../test/support/base/keys.ts';
import { delegateWith, type Harness, startHarness } from '../../test/support/stand-ins/scripted-vendors.ts';

/** The command, as a host starts it. */

const PROGRAM = path.join(import.meta.dirname, 'quittance-mcp.ts');
const KEY = DELEGATE_KEY;

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.stop());

/** Its output and exit code. A server that is ready is ended by the end of its input. */
const start = async (env: Record<string, string>) => {
  const child = spawn(process.execPath, [PROGRAM], {
    env: { PATH: process.env.PATH!, HOME: process.env.HOME!, QUITTANCE_KEY: KEY, ...env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += String(chunk);
      if (output.includes('ready on stdin')) child.kill();
    });
  const [code] = (await once(child, 'close')) as [number | null];
  expect(output).not.toContain(KEY);
  return { code, output };
};

test('it does not start with a key that has no limit, unless the settings allow that', async () => {
  harness.script.delegate = () => ({ status: 200, body: delegateWith() });
  const env = { QUITTANCE_URL: harness.api.baseUrl };
  const refused = await start(env);
  expect(refused.code).toBe(1);
  expect(refused.output).toContain('DELEGATE_KEY has no limit at all');
  expect(refused.output).toContain('QUITTANCE_ALLOW_UNLIMITED=1');
  expect((await start({ ...env, QUITTANCE_ALLOW_UNLIMITED: '1' })).output).toContain('ready on stdin');
  harness.script.delegate = () => ({ status: 200, body: delegateWith({ per_payment: '1' }) });
  expect((await start(env)).output).toContain('ready on stdin');
});

test('it starts while the API does not answer, because each payment reads the limits', async () => {
  const { output } = await start({ QUITTANCE_URL: 'http://127.0.0.1:1' });
  expect(output).toContain('the limits of the key cannot be read now');
  expect(output).toContain('ready on stdin');
});
