import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createPortPicker } from '../../../deploy/local/servers/ports.ts';
import { packages } from '../packages/packages.ts';

const root = path.resolve(import.meta.dirname, '../../..');

/**
 * A route of the App Router is a function of Request to Response. This server replaces the part of
 * Next around it. `/slow` is a handler that hangs, so that a test can kill it.
 */
const NEXT_HOST = `
import { serve } from '@hono/node-server';
import { paid } from '@quittance/sdk/next';
import { paywallOf } from './paywall.ts';
const never = new Promise(() => {});
const slow = () => (process.env.HANG === 'yes' ? never : Response.json({}));
const routes = {
  '/slow': { GET: paid(paywallOf(), { price: '50000' }, slow) },
  '/report': await import('./next/app/report/route.ts'),
  '/forecast': await import('./next/app/forecast/route.ts'),
};
const fetch = (request) => routes[new URL(request.url).pathname][request.method === 'HEAD' ? 'GET' : request.method](request);
serve({ fetch, hostname: '127.0.0.1', port: Number(process.env.PORT) });
`;
const ENTRIES = { express: 'express.ts', fastify: 'fastify.ts', hono: 'hono.ts', next: 'next-host.mjs' };
export type Framework = keyof typeof ENTRIES;
export type Shop = { url: string; output: () => string; kill: () => void };

/**
 * The examples in a separate project, with the SDK as it is published and the frameworks of this
 * tree.
 */
export const createShopProject = async () => {
  const project = mkdtempSync(path.join(tmpdir(), 'quittance-shops-'));
  cpSync(path.join(root, 'examples'), project, { recursive: true });
  writeFileSync(path.join(project, 'next-host.mjs'), NEXT_HOST);
  writeFileSync(path.join(project, 'package.json'), JSON.stringify({ type: 'module', private: true }));
  const sdk = path.join(project, 'node_modules/@quittance/sdk');
  mkdirSync(path.dirname(sdk), { recursive: true });
  cpSync((await packages()).files('sdk'), sdk, { recursive: true });
  for (const name of ['express', 'fastify', 'hono', '@hono', 'ioredis'])
    symlinkSync(path.join(root, 'node_modules', name), path.join(project, 'node_modules', name));
  const children: ChildProcess[] = [];

  const start = (file: string, environment: Record<string, string>, args: string[] = []) => {
    const child = spawn(process.execPath, [file, ...args], {
      cwd: project,
      env: { PATH: process.env.PATH, ...environment },
    });
    children.push(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        output += String(chunk);
      });
    return { child, output: () => output };
  };

  /** Starts a server of the examples, and waits until it answers. */
  const startServer = async (
    file: string,
    environment: Record<string, string>,
    probe: (url: string) => Promise<unknown>,
  ): Promise<Shop> => {
    const port = await createPortPicker().any();
    const url = `http://127.0.0.1:${port}`;
    const { child, output } = start(file, { PUBLIC_URL: url, ...environment, PORT: String(port) });
    for (;;) {
      const up = await probe(url).catch(() => null);
      if (up !== null) return { url, output, kill: () => child.kill('SIGKILL') };
      if (child.exitCode !== null) throw new Error(`${file} did not start: ${output()}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };

  return {
    folder: project,
    /** The receiver of webhooks. */
    startWebhookReceiver: (secrets: readonly string[]): Promise<Shop> =>
      startServer('webhook.ts', { WEBHOOK_SECRET: secrets.join(' ') }, (url) =>
        fetch(url, { method: 'POST' }),
      ),
    /**
     * @param publicUrl the address of the shop that this process is a replica of; by default its
     * own
     */
    startShop: (
      framework: Framework,
      environment: Record<string, string>,
      publicUrl?: string,
    ): Promise<Shop> =>
      startServer(
        ENTRIES[framework],
        { ...environment, ...(publicUrl === undefined ? {} : { PUBLIC_URL: publicUrl }) },
        (url) => fetch(`${url}/report`, { method: 'HEAD' }),
      ),
    /** Runs a file of the examples to its end. Returns its output. */
    runExample: async (file: string, environment: Record<string, string>, args: string[]) => {
      const { child, output } = start(file, environment, args);
      const code = await new Promise((resolve) => child.once('close', resolve));
      if (code !== 0) throw new Error(`${file} ended with ${code}: ${output()}`);
      return output();
    },
    stop: async () => {
      const running = children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
      await Promise.all(
        running.map((child) => {
          const ended = new Promise((resolve) => child.once('close', resolve));
          child.kill('SIGKILL');
          return ended;
        }),
      );
      rmSync(project, { recursive: true, force: true });
    },
  };
};
