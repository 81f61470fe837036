import { afterEach, expect, test } from '@jest/globals';
import { WebSocket, WebSocketServer } from 'ws';
import { type GateWorld, startGateWorld } from '../../test/support/gate.ts';
import { waitUntil } from '../../test/support/wait.ts';

let world: GateWorld;
const start = async (
  serve: Parameters<typeof startGateWorld>[0] = (_request, response) => void response.end(),
) => {
  world = await startGateWorld(serve);
  return world;
};
afterEach(() => world.stop());

/** A server of WebSockets that returns what it gets. */
const echo = (server: import('node:http').Server) => {
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) =>
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary })),
  );
  return sockets;
};
/** What comes back, or the status of the refusal. */
const talk = (
  url: string,
  headers: Record<string, string>,
  message: string | Buffer,
): Promise<string | number> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace('http', 'ws'), { headers });
    socket.on('open', () => socket.send(message));
    socket.on('message', (data) => {
      socket.close();
      resolve(String(data));
    });
    socket.on('unexpected-response', (_request, { statusCode }) => resolve(statusCode!));
    socket.on('error', reject);
  });

test('a free connection is upgraded, with large messages, and ends on both sides', async () => {
  const { url, upstream, lines } = await start();
  const sockets = echo(upstream.server);
  const long = 'x'.repeat(1_000_000);
  expect(await talk(`${url}/free`, {}, long)).toBe(long);
  await waitUntil(() => sockets.clients.size === 0 && lines.some(({ message }) => message === 'call'));
  expect(lines.filter(({ message }) => message === 'call')).toMatchObject([{ status: 101, outcome: 'free' }]);
});

test('a priced connection is paid once, and the upstream is told of the payment', async () => {
  const { url, upstream, pay } = await start();
  const sockets = echo(upstream.server);
  const named: unknown[] = [];
  sockets.on('connection', (_socket, { headers }) => named.push(headers['quittance-settlement']));
  expect(await talk(`${url}/ws`, {}, 'a')).toBe(402);
  const headers = pay('/ws');
  expect(await talk(`${url}/ws`, headers, 'a')).toBe('a');
  expect(await talk(`${url}/ws`, headers, 'a')).toBe(402);
  expect(named).toEqual([headers['x-settlement-id']]);
});

test('an upstream that does not upgrade, or breaks, costs nothing', async () => {
  const { url, upstream, pay } = await start((_request, response) => void response.writeHead(426).end('no'));
  const headers = pay('/ws');
  expect(await talk(`${url}/ws`, headers, 'a')).toBe(426);
  const breaking = (_request: unknown, socket: import('node:stream').Duplex) => void socket.destroy();
  upstream.server.once('upgrade', breaking);
  expect(await talk(`${url}/ws`, headers, 'a')).toBe(502);
  echo(upstream.server);
  expect(await talk(`${url}/ws`, headers, 'a')).toBe('a');
});
