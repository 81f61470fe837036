import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { waitFor } from '../../../test/support/base/wait.ts';
import { createProvider } from './provider.ts';

/** More calls than a provider has connections. */
const BURST = 300;
const LATEST = { blockhash: '11111111111111111111111111111111', lastValidBlockHeight: 150 };

test('the blockhash is read while a burst of simulations occupies all connections', async () => {
  let held = 0;
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { id, method } = JSON.parse(Buffer.concat(parts).toString()) as { id: string; method: string };
    if (method === 'simulateTransaction') held += 1;
    else
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { context: { slot: 1 }, value: LATEST } }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const provider = createProvider(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 1);
  const burst = Array.from({ length: BURST }, () => provider.simulate(new Uint8Array(1), undefined));
  const ended = Promise.allSettled(burst);
  try {
    await waitFor(
      () => held,
      (count) => count > 0,
    );
    expect((await provider.latestBlockhash('confirmed')).value).toEqual(LATEST);
    expect(held).toBeLessThan(BURST);
  } finally {
    server.close();
    server.closeAllConnections();
    await ended;
  }
});
