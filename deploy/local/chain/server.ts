import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { WebSocketServer } from 'ws';
import type { Chain } from './chain.ts';
import type { Rpc } from './rpc.ts';
import { createSubscriptions } from './subscriptions.ts';

const MAX_BODY_BYTES = 1 << 20;
const KEEP_ALIVE_MS = 75_000;
const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'POST, GET, OPTIONS',
  'access-control-allow-headers': '*',
};

const readBody = async (request: IncomingMessage): Promise<string | undefined> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
};

const end = (response: ServerResponse, status: number, text = ''): void => {
  response.writeHead(status, { ...CORS, 'content-type': 'application/json' }).end(text);
};

const handle = async (rpc: Rpc, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  if (request.method === 'OPTIONS') return end(response, 204);
  if (request.method === 'GET' && request.url === '/health') return end(response, 200, 'ok');
  if (request.method !== 'POST') return end(response, 405);
  const body = await readBody(request);
  if (body === undefined) return end(response, 413);
  const answer = await rpc.answer(body);
  if (answer === 'drop') request.socket.destroy();
  else if (answer === 'nothing') end(response, 200);
  else if (answer !== 'silence') end(response, 200, answer.text);
};

const listen = (server: Server, port: number, host: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });

/**
 * Serves HTTP and WebSocket on `port`, and only WebSocket on the next port.
 *
 * @returns a function that closes every connection and both ports
 * @throws Error (EADDRINUSE) if one of the ports is in use
 */
export const startServer = async ({
  host,
  port,
  rpc,
  chain,
}: {
  host: string;
  port: number;
  rpc: Rpc;
  chain: Chain;
}) => {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_BODY_BYTES });
  sockets.on('connection', (socket) => {
    const subscriptions = createSubscriptions(chain, (method, subscription, result) => {
      socket.send(JSON.stringify({ jsonrpc: '2.0', method, params: { result, subscription } }));
    });
    socket.on('message', async (data) => {
      const answer = await rpc.answer(String(data), subscriptions.methods);
      if (answer === 'drop') socket.terminate();
      else if (typeof answer === 'object') socket.send(answer.text);
    });
    socket.on('close', subscriptions.close);
    socket.on('error', () => socket.terminate());
  });

  const attach = (server: Server): Server =>
    server.on('upgrade', (request, socket, head) => {
      sockets.handleUpgrade(request, socket, head, (client) => sockets.emit('connection', client, request));
    });
  const main = attach(
    createServer((request, response) => {
      handle(rpc, request, response).catch(() => request.socket.destroy());
    }),
  );
  const second = attach(createServer((_, response) => end(response, 426)));
  // Longer than clients pool connections. Otherwise a request would sometimes use a connection that
  // is just being closed.
  main.keepAliveTimeout = KEEP_ALIVE_MS;
  await listen(main, port, host);
  await listen(second, port + 1, host);

  return (): void => {
    for (const client of sockets.clients) client.terminate();
    for (const server of [main, second]) {
      server.close();
      server.closeAllConnections();
    }
  };
};
