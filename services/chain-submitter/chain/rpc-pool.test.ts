import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { RpcRefused, RpcUnavailable } from './json-rpc.ts';
import type { Provider } from './provider.ts';
import { createRpcPool, openRpcPool } from './rpc-pool.ts';

/** A provider with a scripted answer for each method. */
let provider: Provider;
let url: string;
const hanging: ServerResponse[] = [];
let givenUp = 0;
const server = createServer(async (request, response) => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const { id, method } = JSON.parse(Buffer.concat(parts).toString()) as { id: string; method: string };
  const own = { jsonrpc: '2.0', id };
  const error = { code: -32600, message: 'cannot be read' };
  if (request.url === '/hangs') {
    hanging.push(response.once('close', () => (givenUp += 1)));
    return;
  }
  if (method === 'getGenesisHash') response.end(JSON.stringify({ ...own, result: 'hash', error: null }));
  else if (method === 'getBlockHeight')
    response.end(JSON.stringify({ ...own, id: crypto.randomUUID(), result: 1 }));
  else if (method === 'sendTransaction')
    response.writeHead(400).end(JSON.stringify({ ...own, id: null, error }));
  else if (method === 'getTransaction') response.end(JSON.stringify({ ...own, id: null, result: null }));
  else if (method === 'getMultipleAccounts') {
    // Sends headers and a part of the body, then closes the connection.
    response.writeHead(200, { 'content-length': 1000 }).write('{"jsonrpc"');
    setTimeout(() => response.destroy(), 20);
  } else response.writeHead(308, { location: '/' }).end('moved');
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  provider = openRpcPool([`${url}/?key=secret`]).providers[0]!;
});
afterAll(() => void server.close());
/** Ends the calls that hang. */
const letGo = async (): Promise<void> => {
  await Promise.all(hanging.splice(0).map((response) => once(response.destroy(), 'close')));
  givenUp = 0;
};

test('an answer with the id of another call is rejected, whatever its form', async () => {
  expect(await provider.genesisHash()).toBe('hash');
  await expect(provider.blockHeight('finalized')).rejects.toThrow('the answer of another call');
  await expect(provider.finalized('signature')).rejects.toThrow('the answer of another call');
});

test('a refusal counts by its HTTP status and needs no id', async () => {
  await expect(provider.send(Buffer.from('wire'))).rejects.toThrow(RpcRefused);
});

test('an incomplete answer is an error, and a redirect is not followed', async () => {
  await expect(provider.accounts([], undefined)).rejects.toThrow(
    'provider 1: getMultipleAccounts: ECONNRESET',
  );
  await expect(provider.latestBlockhash()).rejects.toThrow(/^provider 1: getLatestBlockhash: SyntaxError$/);
});

test('a read does not wait for a provider that hangs, refuses or is unavailable', async () => {
  const [hangs, unavailable] = [`${url}/hangs`, 'http://127.0.0.1:1'];
  expect(await openRpcPool([hangs, unavailable, url]).first((one) => one.genesisHash())).toBe('hash');
  expect(await openRpcPool([unavailable, hangs, url]).first((one) => one.genesisHash())).toBe('hash');
  await provider.genesisHash();
  // Both calls are still waiting.
  expect([hanging.length, givenUp]).toEqual([2, 0]);
  await letGo();
  await expect(openRpcPool([unavailable, unavailable]).first((one) => one.genesisHash())).rejects.toThrow(
    'provider 2',
  );
});

test('a query of all providers returns what is answered soon, without waiting for one that hangs', async () => {
  const rpc = openRpcPool([`${url}/hangs`, url, 'http://127.0.0.1:1']);
  expect(await rpc.soon((one) => one.genesisHash())).toEqual(['hash']);
  // Once another call was answered, the server has noticed an aborted call.
  await provider.genesisHash();
  expect([hanging.length, givenUp]).toEqual([1, 0]);
  await letGo();
  expect(await openRpcPool(['http://127.0.0.1:1']).soon((one) => one.genesisHash())).toEqual([]);
});

/**
 * Providers that answer account reads as of these slots and record the minimum slot of each call.
 */
const readersAt = (slots: readonly number[]) => {
  const asked: (number | undefined)[] = [];
  const providers = slots.map((slot, index) => ({
    number: index + 1,
    accounts: async (_addresses: readonly string[], minContextSlot: number | undefined) => {
      asked.push(minContextSlot);
      return { context: { slot }, value: [] };
    },
  })) as unknown as Provider[];
  return { asked, rpc: createRpcPool(providers, async () => {}) };
};

test('a slot that only one provider reports is neither used nor requested from the others', async () => {
  const { rpc, asked } = readersAt([1_000_000_000, 500]);
  rpc.recordSlot(2, 499);
  expect((await rpc.accounts([])).slot).toBe(500);
  // From now on calls request the slot that both providers have reached.
  await rpc.accounts([]);
  expect(asked).toEqual([undefined, 499, 500, 500]);
});

test('the first slot is compared with another provider’s, and a single provider is trusted', async () => {
  expect((await readersAt([1_000_000_000, 500]).rpc.accounts([])).slot).toBe(500);
  expect((await readersAt([500, 490]).rpc.accounts([])).slot).toBe(490);
  expect((await readersAt([1_000_000_000]).rpc.accounts([])).slot).toBe(1_000_000_000);
});

/** Providers whose newest blockhash has this last block; null: it does not answer. */
const namers = (named: readonly (number | null)[]) => {
  const asked: number[] = [];
  const providers = named.map((lastValidBlockHeight, index) => ({
    number: index + 1,
    latestBlockhash: async () => {
      asked.push(index + 1);
      if (lastValidBlockHeight === null) throw new RpcUnavailable('silent');
      return { context: { slot: 500 }, value: { blockhash: `of ${index + 1}`, lastValidBlockHeight } };
    },
  })) as unknown as Provider[];
  const rpc = createRpcPool(providers, async () => {});
  for (const { number } of providers) rpc.recordSlot(number, 500);
  return { rpc, asked };
};

test('a blockhash is valid until the highest block that any provider names, and each is asked once', async () => {
  const { rpc, asked } = namers([450, 650, 640]);
  expect(await rpc.latestBlockhash()).toEqual({ blockhash: 'of 1', lastValidBlockHeight: 650, slot: 500 });
  expect(asked).toEqual([1, 2, 3]);
  const { rpc: silent } = namers([null, 640, null]);
  expect(await silent.latestBlockhash()).toMatchObject({ blockhash: 'of 2', lastValidBlockHeight: 640 });
  await expect(namers([null, null]).rpc.latestBlockhash()).rejects.toThrow('silent');
});

test('a query for another provider returns the first that has the data, or null', async () => {
  const rpc = openRpcPool([url, `${url}/hangs`, url]);
  const height = (one: Provider) => one.balances('signature', 'confirmed');
  expect(await rpc.another(1, (one) => one.genesisHash())).toEqual({ provider: 3, answer: 'hash' });
  await letGo();
  expect(await openRpcPool([url, url]).another(2, height)).toBeNull();
});
