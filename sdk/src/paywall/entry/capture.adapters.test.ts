import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Hono } from 'hono';
import { stream, streamSSE } from 'hono/streaming';
import { PUBLIC_URL, startVendorApi, type VendorApi } from '../../../../test/support/stand-ins/vendor-api.ts';
import { paid } from '../adapters/hono.ts';
import { memoryStore } from '../main.ts';

/** Buyers who leave a stream of Hono, over a socket. */
let api: VendorApi;
const stops: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  api = await startVendorApi();
});
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  await api.stop();
});

const listen = async (app: Hono): Promise<number> => {
  const server = createServer(getRequestListener(app.fetch));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
};

/** Sends a paid request, and disconnects when the first words of its stream have arrived. */
const leave = async (port: number, path: string): Promise<void> => {
  const socket = connect(port, '127.0.0.1');
  const headers = { host: 'a', ...api.pay({ resource: `${PUBLIC_URL}${path}` }) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  let read = '';
  for await (const chunk of socket) {
    read += String(chunk);
    if (read.includes('first')) break;
  }
  socket.destroy();
};

test('a handler of streamSSE and one of its own stream learn that their buyer has left', async () => {
  const aborted = Promise.withResolvers<string>();
  const cancelled = Promise.withResolvers<string>();
  const app = new Hono();
  const paywall = api.paywall({ store: memoryStore() });
  app.get('/sse', paid(paywall, { price: '50000' }), (c) =>
    streamSSE(c, async (events) => {
      events.onAbort(() => aborted.resolve('onAbort'));
      await events.writeSSE({ data: 'first' });
      await aborted.promise;
    }),
  );
  app.get('/own', paid(paywall, { price: '50000' }), () => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('data: first\n\n')),
      cancel: () => cancelled.resolve('cancel'),
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  });
  const port = await listen(app);
  await leave(port, '/sse');
  expect(await aborted.promise).toBe('onAbort');
  await leave(port, '/own');
  expect(await cancelled.promise).toBe('cancel');
});

test('a stream without a paywall and one with more than is stored tell their handlers alike', async () => {
  const aborted = { '/free': Promise.withResolvers<string>(), '/long': Promise.withResolvers<string>() };
  const app = new Hono();
  const paywall = api.paywall({ maxStoredBytes: 3 });
  const words = (path: keyof typeof aborted) => (c: Parameters<typeof stream>[0]) =>
    stream(c, async (text) => {
      text.onAbort(() => aborted[path].resolve(path));
      await text.write('first');
      await aborted[path].promise;
    });
  app.get('/free', words('/free'));
  app.get('/long', paid(paywall, { price: '50000' }), words('/long'));
  const port = await listen(app);
  for (const path of ['/free', '/long'] as const) {
    await leave(port, path);
    expect(await aborted[path].promise).toBe(path);
  }
});
