import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createRpc } from './rpc.ts';

/** A provider that answers each call with what the call before it asked for. */
let url: string;
const server = createServer(async (request, response) => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const { id, method } = JSON.parse(Buffer.concat(parts).toString()) as { id: string; method: string };
  const own = method === 'getGenesisHash' ? id : crypto.randomUUID();
  response.end(JSON.stringify({ jsonrpc: '2.0', id: own, result: method === 'getGenesisHash' ? 'hash' : 1 }));
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

test('the answer of another call is none, whatever its form', async () => {
  const [provider] = createRpc([url]).providers;
  expect(await provider!.genesisHash()).toBe('hash');
  await expect(provider!.blockHeight('finalized')).rejects.toThrow('the answer of another call');
});
