import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { build } from '../../shared/lib/telemetry/version.ts';
import { statedVersions } from './stated-versions.ts';

const root = path.resolve(import.meta.dirname, '../..');

test('every file that names an image or a package of ours by version is written with the version', () => {
  const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).trim().split('\n');
  const naming = tracked
    .filter((file) => /\.(md|ts|ya?ml|json)$|Dockerfile$/.test(file))
    // Tests may name any version, the changelog names old ones, and the last is generated.
    .filter((file) => !/\.test\.ts$|CHANGELOG|stated-versions|^console\/src\/generated/.test(file))
    .filter((file) =>
      /quittance(-[a-z]+)?[:-]\d+\.\d+\.\d+/.test(readFileSync(path.join(root, file), 'utf8')),
    );
  expect(Object.keys(statedVersions())).toEqual(expect.arrayContaining(naming));
});

test('a new version is written in each of them, and nothing else changes', () => {
  for (const [file, text] of Object.entries(statedVersions({ version: '9.8.7', commit: '' }))) {
    const before = readFileSync(path.join(root, file), 'utf8');
    expect([file, text.includes('9.8.7')]).toEqual([file, true]);
    expect([file, text.replaceAll('9.8.7', build.version)]).toEqual([file, before]);
  }
});
