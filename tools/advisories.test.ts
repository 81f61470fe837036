import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'advisories-'));
  const manifest = { name: 'a-tree', version: '1.0.0', dependencies: { leaky: '1.0.0' } };
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest));
  const integrity = `sha512-${'A'.repeat(86)}==`;
  const packages = { '': manifest, 'node_modules/leaky': { version: '1.0.0', integrity } };
  const lock = { name: 'a-tree', version: '1.0.0', lockfileVersion: 3, requires: true, packages };
  writeFileSync(path.join(folder, 'package-lock.json'), JSON.stringify(lock));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A registry whose list of advisories is `answer`. */
const registry = async (status: number, answer: unknown) => {
  const server = createServer((request, response) => {
    const isQuestion = request.method === 'POST' && request.url === '/-/npm/v1/security/advisories/bulk';
    const versions = { '1.0.0': { name: 'leaky', version: '1.0.0', dist: {} } };
    const packument = { name: 'leaky', 'dist-tags': { latest: '1.0.0' }, versions };
    response.writeHead(isQuestion ? status : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isQuestion ? answer : packument));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, server };
};

const ask = async (status: number, answer: unknown): Promise<{ code: number; text: string }> => {
  const { url, server } = await registry(status, answer);
  const npmrc = `registry=${url}\ncache=${path.join(folder, 'cache')}\nfetch-retries=0\n`;
  writeFileSync(path.join(folder, '.npmrc'), npmrc);
  const script = path.join(import.meta.dirname, 'advisories.ts');
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
  const result = await new Promise<{ code: number; text: string }>((resolve) => {
    const child = execFile(
      process.execPath,
      [script, '--folder', folder],
      { env },
      (_error, stdout, stderr) => resolve({ code: child.exitCode!, text: stdout + stderr }),
    );
  });
  server.close();
  return result;
};

test('the command names each known advisory of an installed package', async () => {
  const advisory = {
    id: 1,
    url: 'https://example.org/GHSA-1',
    title: 'Leaks',
    severity: 'high',
    vulnerable_versions: '<2',
    cwe: [],
    cvss: { score: 0, vectorString: null },
  };
  const { code, text } = await ask(200, { leaky: [advisory] });
  expect(text).toMatch(/high +leaky +Leaks +https:\/\/example\.org\/GHSA-1/);
  expect(code).toBe(1);
});

test('the command ends with 0 if no advisory is known', async () => {
  expect(await ask(200, {})).toEqual({ code: 0, text: '0 known advisories in 1 lock files\n' });
});

test('a registry that does not answer is no proof that there are none', async () => {
  const { code, text } = await ask(405, {});
  expect(text).toMatch(
    /^advisories are unknown, because their source is unavailable: 405 Method Not Allowed/,
  );
  expect(code).toBe(69);
});
