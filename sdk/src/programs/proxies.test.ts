import { spawn } from 'node:child_process';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createReach } from '../../../mcp/src/reach.ts';
import { DELEGATE_KEY, SERVICE_KEY } from '../../../test/support/base/keys.ts';
import { waitFor } from '../../../test/support/base/wait.ts';
import { hasForwardProxy, startForwardProxy } from '../../../test/support/servers/forward-proxy.ts';
import { selfSigned } from '../../../test/support/servers/receiver.ts';
import { directHosts, proxyVariable } from './proxies.ts';

test.each<[env: Record<string, string>, variable: string | null, direct: string]>([
  [{}, null, 'localhost,127.0.0.1,[::1]'],
  [{ HTTPS_PROXY: '' }, null, 'localhost,127.0.0.1,[::1]'],
  [{ https_proxy: 'http://p:1' }, 'https_proxy', 'localhost,127.0.0.1,[::1]'],
  [{ HTTP_PROXY: 'http://p:1', NO_PROXY: '.corp' }, 'HTTP_PROXY', '.corp,localhost,127.0.0.1,[::1]'],
  [{ HTTPS_PROXY: 'http://p:1', NO_PROXY: '*' }, 'HTTPS_PROXY', '*'],
])('%j', (env, variable, direct) => {
  expect([proxyVariable(env), directHosts(env)]).toEqual([variable, direct]);
});

/** Runs a command of this repository with an environment of its own. */
const run = async (program: string, args: string[], env: Record<string, string>) => {
  const file = path.resolve(import.meta.dirname, '../../..', program);
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', file, ...args], {
    env: {
      PATH: process.env.PATH,
      HOME: tmpdir(),
      XDG_CONFIG_HOME: path.join(tmpdir(), 'quittance-no-sign-in'),
      // The certificate is its own authority. What is tested is the way, not the trust.
      NODE_TLS_REJECT_UNAUTHORIZED: '0',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += String(chunk);
    });
  return { child, output: () => output, ended: new Promise((resolve) => child.once('close', resolve)) };
};

(hasForwardProxy ? describe : describe.skip)('where only a proxy leads out', () => {
  // No address that programs of this machine call directly.
  const HOST = '127.0.0.2';
  const server = createServer((request, response) => {
    asked.push(request.url!);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":[],"next_cursor":null}');
  });
  const asked: string[] = [];
  let proxy: Awaited<ReturnType<typeof startForwardProxy>>;
  let api: string;
  beforeAll(async () => {
    server.setSecureContext(await selfSigned('localhost'));
    await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
    const { port } = server.address() as AddressInfo;
    api = `https://${HOST}:${port}`;
    proxy = await startForwardProxy([port]);
  });
  afterAll(async () => {
    await new Promise((resolve) => server.close(resolve).closeAllConnections());
    await proxy.stop();
  });

  // Before the others, because Apache writes a line of theirs when its connection has ended.
  test('tools of MCP reach no private host by it, and what is listed', async () => {
    const baseUrl = 'https://api.example.com';
    const env = { HTTPS_PROXY: proxy.url, HTTP_PROXY: proxy.url };
    const closed = createReach({ baseUrl, reach: 'public' }, env);
    for (const url of [api, 'http://10.1.2.3/', 'http://localhost:1234/', 'http://[::1]:1234/'])
      await expect(closed.fetch(url, {})).rejects.toMatchObject({ name: 'UnreachableError' });
    expect(proxy.seen()).toEqual([]);
    await closed.close();
    const listed = createReach({ baseUrl, reach: [new URL(api).host] }, env);
    // It goes through, up to the certificate, which this process does not trust.
    await expect(listed.fetch(api, {})).rejects.toThrow();
    await listed.close();
    await waitFor(proxy.seen, (lines) => lines.length > 0);
  });

  test('the command calls the API through it, and not what NO_PROXY names', async () => {
    const args = ['payments', 'list', '--url', api];
    const env = { HTTPS_PROXY: proxy.url, DELEGATE_KEY };
    const before = proxy.seen().length;
    const through = await run('cli/src/main.ts', args, env);
    expect([await through.ended, through.output()]).toEqual([0, expect.stringContaining('payment')]);
    const seen = await waitFor(proxy.seen, (lines) => lines.length > before);
    expect(seen).toContain(`CONNECT ${new URL(api).host} HTTP/1.1`);
    const direct = await run('cli/src/main.ts', args, { ...env, NO_PROXY: HOST });
    expect(await direct.ended).toBe(0);
    expect(proxy.seen()).toHaveLength(seen.length);
    expect(asked).toHaveLength(2);
  });

  test('a proxy that does not answer is named by its variable, and a read says that nothing moved', async () => {
    const env = { https_proxy: 'http://127.0.0.1:1', DELEGATE_KEY };
    const { ended, output } = await run('cli/src/main.ts', ['whoami', '--url', api, '--json'], env);
    await ended;
    expect(output()).toMatch(/"money_moved": "no"/);
    expect(output()).toMatch(/proxy that https_proxy names: check it, or name the host in NO_PROXY/);
  });

  test('the MCP server reads the limits of its key through it', async () => {
    const env = { HTTPS_PROXY: proxy.url, DELEGATE_KEY, QUITTANCE_URL: api };
    const before = asked.length;
    const { child, ended } = await run('mcp/src/quittance-mcp.ts', [], env);
    await waitFor(
      () => asked.slice(before),
      (paths) => paths.includes('/v1/delegates/me'),
    );
    child.kill('SIGKILL');
    await ended;
  });

  test('the gate asks the API through it at its start', async () => {
    const before = asked.length;
    const env = {
      ...{ HTTPS_PROXY: proxy.url, SERVICE_KEY, QUITTANCE_URL: api },
      SERVICE_ID: '01234567-89ab-4cde-8f01-23456789abcd',
    };
    const places = ['--upstream', 'http://127.0.0.1:1', '--listen', '0', '--operations', '0'];
    const args = [...places, '--price', 'GET /a=$1'];
    const { child, ended } = await run('gate/src/program/quittance-gate.ts', args, env);
    await waitFor(
      () => asked.slice(before),
      (paths) => paths.includes('/v1/quote'),
    );
    child.kill('SIGKILL');
    await ended;
  });
});
