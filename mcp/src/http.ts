import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  localhostHostValidation,
  localhostOriginValidation,
  toNodeHandler,
} from '@modelcontextprotocol/node';
import { createMcpHandler, type McpServerFactory } from '@modelcontextprotocol/server';

/**
 * Streamable HTTP on loopback. A page in the person's browser can reach loopback too, so the Host
 * and the Origin are checked, and each request needs the token.
 */

const HOST = '127.0.0.1';
const PATH = '/mcp';

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();

const refuse = (
  response: ServerResponse,
  status: number,
  message: string,
  headers: Record<string, string> = {},
) => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32000, message }, id: null }));
};

/** Compares in constant time. */
const hasToken = ({ headers }: IncomingMessage, expected: Buffer): boolean => {
  const [, token] = /^Bearer ([^\s]+)$/i.exec(headers.authorization ?? '') ?? [];
  return token !== undefined && timingSafeEqual(hashOf(token), expected);
};

/**
 * Starts the listener.
 * @param port 0: any free one
 * @returns its address, and its end
 */
export const listen = async (
  factory: McpServerFactory,
  { port, token }: { port: number; token: string },
  onError: (error: Error) => void,
): Promise<{ url: string; stop: () => Promise<void> }> => {
  const handler = createMcpHandler(factory, { onerror: onError });
  const handle = toNodeHandler(handler, { onerror: onError });
  const isOwnHost = localhostHostValidation();
  const isOwnOrigin = localhostOriginValidation();
  const expected = hashOf(token);
  const server = createServer((request, response) => {
    if (!isOwnHost(request, response) || !isOwnOrigin(request, response)) return;
    if (!hasToken(request, expected))
      return refuse(response, 401, 'The bearer token is missing or wrong.', { 'www-authenticate': 'Bearer' });
    if (request.url?.split('?')[0] !== PATH) return refuse(response, 404, `The endpoint is ${PATH}.`);
    handle(request as Parameters<typeof handle>[0], response).catch(onError);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new Error(
              `${HOST}:${port}: another program listens there already; end it, or choose another --port`,
            )
          : error,
      ),
    );
    server.listen(port, HOST, resolve);
  });
  return {
    url: `http://${HOST}:${(server.address() as AddressInfo).port}${PATH}`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await handler.close();
    },
  };
};
