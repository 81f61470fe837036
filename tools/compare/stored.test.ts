import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { formatted, lastRelease, missingParts, presentSurface, storedSurface } from './stored.ts';
import { PARTS } from './surface.ts';

/** Where a surface comes from, over a repository of git. */

let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'surfaces-'));
  git('init', '--quiet');
});
afterEach(() => rmSync(root, { recursive: true }));

const git = (...args: string[]) => {
  const as = ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'commit.gpgsign=false'];
  execFileSync('git', [...as, ...args], { cwd: root, stdio: 'ignore' });
};
const write = (file: string, content: string) => {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), content);
};
const part = (name: string) => ({ entries: { [name]: {} }, definitions: {} });
/** A commit of a version. Before surfaces were written it has only the API document. */
const commit = (version: string, surface?: Parameters<typeof formatted>[0]) => {
  write('package.json', JSON.stringify({ version }));
  const components = { schemas: {}, securitySchemes: {} };
  write('docs/openapi.json', JSON.stringify({ paths: {}, webhooks: {}, components }));
  if (surface !== undefined) write('docs/surface.json', formatted(surface));
  git('add', '.');
  git('commit', '--quiet', '--message', version);
};

test('the last release is the last tag of the branch, or before there is one the baseline', () => {
  commit('0.1.0', { CLI: part('one') });
  expect(lastRelease(root)).toBeNull();
  write('tools/compare/baseline.json', formatted({ CLI: part('none') }, { version: '0.0.1' }));
  expect(lastRelease(root)).toEqual({
    name: 'tools/compare/baseline.json',
    version: '0.0.1',
    surface: { CLI: part('none') },
  });
  git('tag', 'v0.1.0');
  git('tag', 'nightly');
  commit('0.2.0', { CLI: part('two') });
  expect(lastRelease(root)).toMatchObject({
    name: 'v0.1.0',
    version: '0.1.0',
    surface: { CLI: part('one') },
  });
  expect(presentSurface(root)).toMatchObject({ version: '0.2.0', surface: { CLI: part('two') } });
});

test('any commit and file can be named, and one without a surface has the API and its events', () => {
  commit('0.1.0');
  commit('0.2.0', { CLI: part('two') });
  expect(storedSurface('HEAD', root)).toMatchObject({ version: '0.2.0', surface: { CLI: part('two') } });
  const older = storedSurface('HEAD~1', root)!;
  expect(missingParts(older)).toEqual(PARTS.filter((each) => each !== 'API' && each !== 'Events'));
  write('kept.json', formatted({ Bus: part('x') }, { version: '1.0.0' }));
  expect(storedSurface('kept.json', root)).toMatchObject({ name: 'kept.json', surface: { Bus: part('x') } });
  expect(storedSurface('nothing', root)).toBeNull();
});
