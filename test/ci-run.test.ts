import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';

const root = path.resolve(import.meta.dirname, '..');
const folder = mkdtempSync(path.join(tmpdir(), 'ci-run-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/**
 * Runs .ci/run with a program in place of npm.
 * @param commands what it does, in shell, for `check`, `tests` and `containers`
 */
const ciRun = ([check, tests, containers]: readonly [string, string, string]) => {
  const npm = path.join(folder, 'npm');
  writeFileSync(
    npm,
    `#!/bin/sh\ncase "$*" in\n*check*all) ${check};;\n*tests) ${tests};;\n*) ${containers};;\nesac\n`,
  );
  chmodSync(npm, 0o755);
  const { status, stdout } = spawnSync('sh', ['.ci/run'], {
    cwd: root,
    env: { ...process.env, PATH: `${folder}${path.delimiter}${process.env.PATH}` },
    encoding: 'utf8',
  });
  return { status, lastLine: stdout.trim().split('\n').at(-1) };
};
const counts = (passed: number, failed: number) =>
  `echo '${passed} ${failed}' >> "$TEST_COUNTS"; exit ${failed === 0 ? 0 : 1}`;

test.each([
  ['all pass', [counts(1, 0), counts(5, 0), counts(2, 0)], 0, '8 passed, 0 failed'],
  ['the container check is skipped', [counts(1, 0), counts(5, 0), 'exit 0'], 0, '6 passed, 0 failed'],
  [
    'the first two fail, the last one still runs',
    [counts(0, 1), counts(4, 1), counts(2, 0)],
    1,
    '6 passed, 2 failed',
  ],
  ['one ends before it counts', [counts(1, 0), 'exit 3', counts(2, 0)], 1, '3 passed, 1 failed'],
] as const)('.ci/run, %s', (_name, commands, status, lastLine) => {
  expect(ciRun(commands)).toEqual({ status, lastLine });
});
