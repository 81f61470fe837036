import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createSecretKey } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import express from 'express';
import { jwtVerify } from 'jose';
import { findBinary, unpackedDir } from '../../../deploy/local/servers/binaries.mjs';
import { createPortPicker } from '../../../deploy/local/servers/ports.ts';
import { inherited } from '../base/inherited.ts';

/**
 * Servers that know nothing of payments, for a gate before them: Express, FastAPI and a plain file
 * server. The first two answer the same, and check what the gate has told them.
 */

const ROOT = path.resolve(import.meta.dirname, '../../..');
export const PYTHON_PACKAGES = path.join(unpackedDir, 'usr/lib/python3/dist-packages');

/** The first Python of this machine that has these modules, or null. */
export const pythonWith = (modules: readonly string[]): string | null =>
  ['/usr/bin/python3', findBinary('python3')].find(
    (python) =>
      python !== undefined &&
      spawnSync(python, ['-c', `import ${modules.join(', ')}`], {
        env: { ...process.env, PYTHONPATH: PYTHON_PACKAGES },
      }).status === 0,
  ) ?? null;

export type GateUpstream = { port: number; stop: () => Promise<void> };

const answersHttp = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/free`).then(
    () => true,
    () => false,
  );

const untilItAnswers = async (
  answers: () => Promise<boolean>,
  child: ChildProcess,
  output: () => string,
): Promise<void> => {
  for (;;) {
    if (await answers()) return;
    if (child.exitCode !== null) throw new Error(`the upstream did not start: ${output()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

type Program = { port: number; folder: string; env: Record<string, string>; answers?: typeof answersHttp };

/**
 * Starts a program that serves a port.
 * @param answers tells that it does, by default an answer of HTTP
 */
export const startProgram = async (
  command: string,
  args: string[],
  { port, folder, env, answers = answersHttp }: Program,
): Promise<GateUpstream> => {
  const child = spawn(command, args, { env: { ...inherited, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += String(chunk);
    });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  await untilItAnswers(
    () => answers(port),
    child,
    () => output,
  );
  return {
    port,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

export const newFolder = (): string => mkdtempSync(path.join(tmpdir(), 'quittance-upstream-'));

/** What it was told of a payment. It fails if the token is not of this request. */
const paymentOf = async ({ headers, method, originalUrl }: express.Request, secret: string) => {
  const key = createSecretKey(Buffer.from(secret));
  const { payload } = await jwtVerify(String(headers['quittance-token']), key, { issuer: 'quittance-gate' });
  const checked = payload.method === method && payload.target === originalUrl;
  return { settlement: headers['quittance-settlement'], checked };
};

const startExpress = async (secret: string): Promise<GateUpstream> => {
  const app = express();
  app.use(express.json(), express.text());
  app.get('/report', async (request, response) => {
    const { city = 'Ulm' } = request.query;
    response.json({ report: `All is well in ${city}.`, ...(await paymentOf(request, secret)) });
  });
  app.post('/report', async (request, response) => {
    const { city } = request.body;
    response.json({ report: `All is well in ${city}.`, ...(await paymentOf(request, secret)) });
  });
  app.get('/forecast', async (request, response) => {
    response.json({ forecast: 'Sun.', ...(await paymentOf(request, secret)) });
  });
  app.post('/chat', async (request, response) => {
    const words = String(request.body).split(' ').length;
    response.setHeader('X-Tokens', String(words));
    response.json({ words, ...(await paymentOf(request, secret)) });
  });
  app.get('/free', (_request, response) => void response.json({ report: 'A sample.' }));
  const server = createServer(app).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

/** The check of gate/README.md, as a module. */
const readmeCheck = (): string => {
  const readme = readFileSync(path.join(ROOT, 'gate/README.md'), 'utf8');
  const [, snippet] = /```python\n([\s\S]*?)```/.exec(readme)!;
  return `import os\nUPSTREAM_SECRET = os.environ["UPSTREAM_SECRET"]\n${snippet}`;
};

const startFastapi = async (secret: string): Promise<GateUpstream> => {
  const folder = newFolder();
  writeFileSync(path.join(folder, 'paid.py'), readmeCheck());
  const port = await createPortPicker().any();
  const places = [folder, path.join(ROOT, 'test/interop/fastapi'), PYTHON_PACKAGES];
  const env = {
    UPSTREAM_SECRET: secret,
    PYTHONPATH: places.join(path.delimiter),
    PYTHONDONTWRITEBYTECODE: 'yes',
  };
  const args = ['-m', 'uvicorn', 'reports:app', '--port', String(port), '--no-access-log'];
  return startProgram(findBinary('python3')!, args, { port, folder, env });
};

const UPSTREAMS = { Express: startExpress, FastAPI: startFastapi } as const;
type UpstreamName = keyof typeof UPSTREAMS;
export const startGateUpstream = (name: UpstreamName, secret: string): Promise<GateUpstream> =>
  UPSTREAMS[name](secret);

const hasFastapi =
  findBinary('python3') !== undefined && existsSync(path.join(PYTHON_PACKAGES, 'fastapi/__init__.py'));
/** Those that are on this machine (deploy/local/setup/fastapi.mjs). */
export const gateUpstreams: UpstreamName[] = hasFastapi ? ['Express', 'FastAPI'] : ['Express'];
if (!hasFastapi)
  console.warn(
    'the tests of a gate before FastAPI are skipped: there is no python3, or no apt-get to get it',
  );

/** Whether this machine has nginx (deploy/local/setup/proxies.mjs). */
export const hasFileServer = findBinary('nginx') !== undefined;

/** Starts nginx as a file server, which knows ranges and entity tags. */
export const startFileServer = async (files: Readonly<Record<string, Uint8Array>>): Promise<GateUpstream> => {
  const folder = newFolder();
  mkdirSync(path.join(folder, 'files'));
  for (const [name, bytes] of Object.entries(files)) writeFileSync(path.join(folder, 'files', name), bytes);
  const port = await createPortPicker().any();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const http = `access_log off; ${temporary.join(' ')} server { listen 127.0.0.1:${port}; root ${folder}/files; }`;
  const configuration = path.join(folder, 'nginx.conf');
  writeFileSync(
    configuration,
    `daemon off; user root; worker_processes 1; pid ${folder}/pid; events {}\nhttp { ${http} }\n`,
  );
  const args = ['-p', folder, '-e', 'stderr', '-c', configuration];
  return startProgram(findBinary('nginx')!, args, { port, folder, env: {} });
};
