import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { installTool } from '../support/packages/node-versions.ts';

/** The examples in a folder of a reader, whose Node may be too old for TypeScript. */
const run = promisify(execFile);
const project = mkdtempSync(path.join(tmpdir(), 'quittance-examples-'));
let npm: string;
beforeAll(async () => {
  cpSync(path.resolve(import.meta.dirname, '../../examples'), project, { recursive: true });
  const { stdout } = await run('sh', ['-c', 'command -v npm']);
  npm = realpathSync(stdout.trim());
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

test.each([
  ['22.18.0', /Required: \{"node":">=22\.19"\}/],
  ['24', null],
])(
  'npm install on Node %s',
  async (version, refusal) => {
    const node = await installTool('node', version, 'node');
    const ended = await run(node, [npm, 'install', '--dry-run', '--offline'], { cwd: project }).then(
      () => null,
      ({ stderr }: { stderr: string }) => stderr,
    );
    if (refusal === null) expect(ended).toBeNull();
    else expect(ended).toMatch(refusal);
  },
  300_000,
);
