import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { McpServer } from '@modelcontextprotocol/server';
import { listen } from './http.ts';

const TOKEN = 'a-token-of-the-test';
let server: Awaited<ReturnType<typeof listen>>;
beforeAll(async () => {
  const create = () => new McpServer({ name: 'test', version: '1' }, { capabilities: { tools: {} } });
  server = await listen(create, { port: 0, token: TOKEN }, () => undefined);
});
afterAll(() => server.stop());

const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
});

/** A request with any Host, which fetch does not allow. */
const statusOf = (headers: Record<string, string>, url = server.url): Promise<number> =>
  new Promise((resolve, reject) => {
    const common = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const sent = request(url, { method: 'POST', headers: { ...common, ...headers } }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    });
    sent.once('error', reject);
    sent.end(INITIALIZE);
  });
const authorization = `Bearer ${TOKEN}`;

test('it listens on loopback only', () => {
  expect(new URL(server.url).hostname).toBe('127.0.0.1');
});

test.each<[string, Record<string, string>, number]>([
  ['the token', { authorization }, 200],
  ['the token and the origin of a local page', { authorization, origin: 'http://localhost:5173' }, 200],
  ['no token', {}, 401],
  ['another token', { authorization: 'Bearer another-token-of-it' }, 401],
  ['the token as basic authentication', { authorization: `Basic ${TOKEN}` }, 401],
  ['another Host', { authorization, host: 'attacker.example' }, 403],
  ['a Host that begins like this one', { authorization, host: '127.0.0.1.attacker.example' }, 403],
  ['the Origin of a site', { authorization, origin: 'https://attacker.example' }, 403],
  ['an Origin that is none', { authorization, origin: 'null' }, 403],
])('a request with %s gets its answer', async (_name, headers, status) => {
  expect(await statusOf(headers)).toBe(status);
});

test('another path is not found', async () => {
  expect(await statusOf({ authorization }, server.url.replace('/mcp', '/other'))).toBe(404);
});
