import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { validate } from 'dockerfile-utils';
import { parse, parseAllDocuments } from 'yaml';
import { createTraceServer } from '../deploy/local/traces/server.ts';
import { composeFaults } from '../test/support/base/compose-schema.ts';
import { SERVICE_KEY } from '../test/support/base/keys.ts';
import { waitUntil } from '../test/support/base/wait.ts';
import { ask, startUpstream } from '../test/support/fixtures/gate.ts';
import { podFindings } from '../test/support/k8s/policies.ts';
import type { Rendered } from '../test/support/k8s/render.ts';
import { typeErrors } from '../test/support/k8s/schema.ts';
import { readGateFile } from './src/settings/read-file.ts';

/** The image of the gate, and the examples that run it. */
const root = path.resolve(import.meta.dirname, '..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const lines = read('gate/Dockerfile')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));

/** What the Dockerfile copies from the repository. */
const copied = lines
  .filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
  .flatMap((line) => line.split(' ').slice(1, -1));

let folder: string;
let context: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'quittance-gate-image-'));
  context = mkdtempSync(path.join(tmpdir(), 'quittance-gate-context-'));
  // As in the image: nothing else is there.
  for (const source of copied)
    cpSync(path.join(root, source), path.join(context, source), { recursive: true });
  symlinkSync(path.join(root, 'node_modules'), path.join(context, 'node_modules'));
  execFileSync(process.execPath, [path.join(context, 'gate/build.ts'), '--image', folder]);
});
afterAll(() => {
  for (const made of [folder, context]) rmSync(made, { recursive: true });
});

test('the program of the image runs without a package beside it', () => {
  const { status, stdout } = spawnSync(process.execPath, ['program.js', '--schema'], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect([status, JSON.parse(stdout).description]).toEqual([0, 'The file of a gate of Quittance']);
  expect(readFileSync(path.join(folder, 'licences/pino@10.4.0/LICENSE'), 'utf8')).toContain('MIT');
});

test('the program of the image sends spans to a collector', async () => {
  const collector = createTraceServer();
  await collector.listen({ port: 0, host: '127.0.0.1' });
  const upstream = await startUpstream((_request, response) => response.end('ok'));
  const to = `http://127.0.0.1:${upstream.port}`;
  const addresses = ['--listen', '127.0.0.1:0', '--operations', '127.0.0.1:0', '--upstream', to];
  const gate = spawn(process.execPath, ['program.js', ...addresses, '--price', 'GET /a=0.05'], {
    cwd: folder,
    env: {
      ...{ SERVICE_KEY, SERVICE_ID: '00000000-0000-4000-8000-000000000000', QUITTANCE_URL: to },
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.server.address() as AddressInfo).port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    },
  });
  let stdout = '';
  gate.stdout.on('data', (chunk) => {
    stdout += String(chunk);
  });
  const listening = () => /"listen":"127\.0\.0\.1:(\d+)"/.exec(stdout)?.[1];
  try {
    await waitUntil(() => listening() !== undefined);
    expect((await ask(`http://127.0.0.1:${listening()}/free`)).text).toBe('ok');
    // What is left is sent at the end.
    gate.kill('SIGTERM');
    await new Promise((resolve) => gate.once('close', resolve));
    const { body } = await collector.inject('/traces');
    expect(body).toContain('"service":"quittance-gate"');
    expect(body).toContain('"url.path":"/free"');
  } finally {
    gate.kill('SIGKILL');
    await upstream.stop();
    await collector.close();
  }
});

test('the Dockerfile has no error, the Node of package.json, and a user who owns nothing', () => {
  expect(validate(read('gate/Dockerfile')).map(({ message }) => message)).toEqual([]);
  const { node } = JSON.parse(read('package.json')).devDependencies;
  expect(lines[0]!.split('@')[0]).toBe(`ARG NODE=node:${node}-bookworm-slim`);
  expect(lines.slice(-2)).toEqual(['USER 10001:10001', 'ENTRYPOINT ["node", "program.js"]']);
});

test('the build context is exactly what the Dockerfile copies', () => {
  const [first, ...sent] = read('gate/Dockerfile.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  expect(first).toBe('*');
  expect(new Set(sent)).toEqual(new Set(copied.map((source) => `!${source}`)));
});

test('the manifests of the example are of their types, and keep the rules of ours', () => {
  const objects = parseAllDocuments(read('examples/gate/kubernetes/gate.yaml')).map(
    (document) => document.toJS() as Rendered,
  );
  expect(typeErrors(objects)).toEqual([]);
  expect(objects.flatMap(podFindings)).toEqual([]);
});

test('the example for Compose is valid', () => {
  expect(composeFaults(parse(read('examples/gate/compose.yaml')))).toEqual([]);
});

test.each(['gate.yaml', 'kubernetes/routes.yaml'])('the routes of %s are read', (name) => {
  expect(readGateFile(name, read(`examples/gate/${name}`)).routes).toEqual([
    { match: 'GET /report', price: '50000' },
  ]);
});
