import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { assertComplete, gapsOf } from './lock-file.mjs';

const integrity = `sha512-${'A'.repeat(86)}==`;

test('a package of a lock file needs a checksum and no address; a folder, a link and a bundled package need none', () => {
  const packages = {
    '': {},
    stub: {},
    'node_modules/good': { integrity },
    'node_modules/stub': { link: true, resolved: 'stub' },
    'node_modules/good/node_modules/inside': { inBundle: true },
    'node_modules/bare': {},
    'node_modules/weak': { integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' },
    'node_modules/placed': { integrity, resolved: 'https://registry.example/placed.tgz' },
  };
  expect(gapsOf({ packages })).toEqual([
    'node_modules/bare has no sha512 integrity',
    'node_modules/weak has no sha512 integrity',
    'node_modules/placed names a registry (resolved)',
  ]);
});

test('the set-up refuses a lock file with gaps in one line', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'lock-file-'));
  const file = path.join(folder, 'package-lock.json');
  try {
    writeFileSync(file, JSON.stringify({ packages: { 'node_modules/a': {}, 'node_modules/b': {} } }));
    expect(() => assertComplete(file)).toThrow(
      `the lock file ${file} is incomplete: node_modules/a has no sha512 integrity and 1 more; take the committed one (git checkout)`,
    );
    writeFileSync(file, JSON.stringify({ packages: { 'node_modules/a': { integrity } } }));
    expect(() => assertComplete(file)).not.toThrow();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
