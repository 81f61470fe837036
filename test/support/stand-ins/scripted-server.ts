import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * An HTTP server that answers by a script, for answers that a healthy API does not give on demand.
 */

export type Asked = {
  call: string;
  token: string | null;
  body: Record<string, unknown> | null;
  /** The Idempotency-Key, if one was sent. */
  key?: string;
};
export type Scripted =
  | { status: number; body?: unknown; retryAfter?: number; html?: true; headers?: Record<string, string> }
  /** The connection breaks before an answer. */
  | 'lost';

const textOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};

/** @param answer the answer to the nth call, from 0 */
export const startScripted = async (answer: (asked: Asked, n: number) => Scripted | Promise<Scripted>) => {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const text = await textOf(request);
    const key = request.headers['idempotency-key'];
    const call: Asked = {
      call: `${request.method} ${request.url}`,
      token: request.headers.authorization?.replace('Bearer ', '') ?? null,
      body: text === '' ? null : JSON.parse(text),
      ...(typeof key === 'string' ? { key } : {}),
    };
    asked.push(call);
    const said = await answer(call, asked.length - 1);
    if (said === 'lost') return void request.socket.destroy();
    response.writeHead(said.status, {
      'content-type': said.html === true ? 'text/html' : 'application/json',
      'x-request-id': `request-${asked.length}`,
      ...said.headers,
      ...(said.retryAfter === undefined ? {} : { 'retry-after': String(said.retryAfter) }),
    });
    response.end(said.html === true ? '<h1>Bad gateway</h1>' : JSON.stringify(said.body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

/** An error answer as the gateway gives it. */
export const refusal = (status: number, code: string, more: object = {}): Scripted => ({
  status,
  body: { error: { code, message: `told ${code}`, ...more } },
  ...(status === 429 || status === 503 ? { retryAfter: 0 } : {}),
});
