import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createRpc, type Provider, RpcRefused } from './rpc.ts';

/** A provider that answers each method in its own way. */
let provider: Provider;
const server = createServer(async (request, response) => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const { id, method } = JSON.parse(Buffer.concat(parts).toString()) as { id: string; method: string };
  const own = { jsonrpc: '2.0', id };
  const error = { code: -32600, message: 'cannot be read' };
  if (method === 'getGenesisHash') response.end(JSON.stringify({ ...own, result: 'hash', error: null }));
  else if (method === 'getBlockHeight')
    response.end(JSON.stringify({ ...own, id: crypto.randomUUID(), result: 1 }));
  else if (method === 'sendTransaction')
    response.writeHead(400).end(JSON.stringify({ ...own, id: null, error }));
  else if (method === 'getTransaction') response.end(JSON.stringify({ ...own, id: null, result: null }));
  else if (method === 'getMultipleAccounts') {
    // Headers and a part of the body, and then nobody is there any more.
    response.writeHead(200, { 'content-length': 1000 }).write('{"jsonrpc"');
    setTimeout(() => response.destroy(), 20);
  } else response.writeHead(308, { location: '/' }).end('moved');
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/?key=secret`;
  provider = createRpc([url]).providers[0]!;
});
afterAll(() => void server.close());

test('the answer of another call is none, whatever its form', async () => {
  expect(await provider.genesisHash()).toBe('hash');
  await expect(provider.blockHeight('finalized')).rejects.toThrow('the answer of another call');
  await expect(provider.finalized('signature')).rejects.toThrow('the answer of another call');
});

test('a refusal counts with its status and without its id', async () => {
  await expect(provider.send(Buffer.from('wire'))).rejects.toThrow(RpcRefused);
});

test('half an answer is none, and another address is not followed', async () => {
  await expect(provider.accounts([], undefined)).rejects.toThrow(
    'provider 1: getMultipleAccounts: ECONNRESET',
  );
  await expect(provider.latestBlockhash()).rejects.toThrow(/^provider 1: getLatestBlockhash: SyntaxError$/);
});
