import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

const digest = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;
const MANIFEST = /^\/v2\/(.+)\/manifests\/(.+)$/;

/** A registry that wants a token, and has every image but `missing`. */
let registry: Server;
let host: string;
let root: string;
beforeEach(async () => {
  registry = createServer((request, response) => {
    const { url = '', headers, method } = request;
    if (url === `/token?service=registry&scope=pull`)
      return void response.end(JSON.stringify({ token: 'reader' }));
    const [, repository = '', tag = ''] = MANIFEST.exec(url) ?? [];
    if (headers.authorization !== 'Bearer reader') {
      const challenge = `Bearer realm="http://${host}/token",service="registry",scope="pull"`;
      return void response.writeHead(401, { 'www-authenticate': challenge }).end();
    }
    const isThere = method === 'HEAD' && repository !== '' && repository !== 'missing';
    const there = { 'docker-content-digest': digest(`${repository}:${tag}`) };
    response.writeHead(isThere ? 200 : 404, isThere ? there : {}).end();
  });
  await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve));
  host = `127.0.0.1:${(registry.address() as AddressInfo).port}`;
  root = mkdtempSync(path.join(tmpdir(), 'pin-images-'));
  mkdirSync(path.join(root, 'deploy'));
  mkdirSync(path.join(root, 'k8s/components/redis'), { recursive: true });
});
afterEach(() => {
  registry.close();
  rmSync(root, { recursive: true });
});

const write = (file: string, text: string) => writeFileSync(path.join(root, file), text);
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const run = (...args: string[]): Promise<{ code: number; text: string }> =>
  new Promise((resolve) => {
    const script = path.join(import.meta.dirname, 'pin-images.ts');
    const child = execFile(process.execPath, [script, '--root', root, ...args], (_error, stdout, stderr) =>
      resolve({ code: child.exitCode!, text: stdout + stderr }),
    );
  });

test('each image of others gets the digest of its tag, and ours and pinned ones stay', async () => {
  const pinned = `${host}/team/db:18@${digest('earlier')}`;
  write('deploy/Dockerfile', `ARG NODE=${host}/node:24\nFROM \${NODE} AS packages\n`);
  write('deploy/compose.yaml', `services:\n  a:\n    image: quittance:local\n  b:\n    image: ${pinned}\n`);
  write('k8s/components/redis/redis.yaml', `spec:\n  - image: ${host}/team/redis:8\n  - image: quittance\n`);
  expect((await run('--check')).text).toBe(
    `${host}/node:24 has no digest\n${host}/team/redis:8 has no digest\n`,
  );
  expect((await run()).code).toBe(0);
  expect(read('deploy/Dockerfile')).toContain(`ARG NODE=${host}/node:24@${digest('node:24')}\nFROM`);
  expect(read('deploy/compose.yaml')).toContain(`image: quittance:local\n  b:\n    image: ${pinned}\n`);
  const redis = `  - image: ${host}/team/redis:8@${digest('team/redis:8')}\n  - image: quittance\n`;
  expect(read('k8s/components/redis/redis.yaml')).toContain(redis);
  expect(await run('--check')).toEqual({ code: 0, text: '' });
});

test('nothing is written if one digest is unknown', async () => {
  write('deploy/Dockerfile', `ARG NODE=${host}/node:24\n`);
  write('deploy/compose.yaml', `services:\n  a:\n    image: ${host}/missing:1\n`);
  const { code, text } = await run();
  expect(text).toMatch(/^nothing was written: the digest of \S+\/missing:1 is unknown \(\S+ answered 404/);
  expect(code).toBe(1);
  expect(read('deploy/Dockerfile')).toBe(`ARG NODE=${host}/node:24\n`);
});
