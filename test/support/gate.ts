import http, { type IncomingMessage, type RequestListener } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { GateLog } from '../../gate/src/call-log.ts';
import type { Tracing } from '../../gate/src/call-span.ts';
import type { Settings } from '../../gate/src/settings.ts';
import { startGate } from '../../gate/src/start.ts';
import { NO_TRACING } from '../../gate/src/tracing.ts';
import { SERVICE_KEY } from './keys.ts';
import { PUBLIC_URL, startVendorApi } from './vendor-api.ts';

/** A gate before a real server, and the API that its paywall calls. */

type Line = Record<string, unknown>;

/** A server that counts what it serves, with the requests as it got them. */
export const startUpstream = async (serve: RequestListener) => {
  const seen: IncomingMessage[] = [];
  const server = http.createServer((request, response) => {
    seen.push(request);
    serve(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    server,
    port,
    seen,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

const createLog = () => {
  const lines: Line[] = [];
  const add = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, message, ...fields });
  const log: GateLog = { info: add('info'), warn: add('warn'), error: add('error') };
  return { log, lines };
};

/** Starts a gate with a price for `GET /report`, `POST /report` and `GET /ws`. */
export const startGateWorld = async (
  serve: RequestListener,
  changed: Partial<Settings> = {},
  tracing: Tracing = NO_TRACING,
) => {
  const api = await startVendorApi();
  const upstream = await startUpstream(serve);
  const { log, lines } = createLog();
  const paid = { price: '50000' };
  const settings: Settings = {
    upstream: new URL(`http://127.0.0.1:${upstream.port}`),
    listen: { host: '127.0.0.1', port: 0 },
    operations: { host: '127.0.0.1', port: 0 },
    paywall: {
      baseUrl: api.baseUrl,
      serviceKey: SERVICE_KEY,
      serviceId: api.serviceId,
      environment: 'test',
      publicUrl: PUBLIC_URL,
    },
    routes: [
      { match: 'GET,POST /report', paid },
      { match: 'GET /ws', paid },
    ],
    passesUnmatched: true,
    hosts: { own: new URL(PUBLIC_URL).host, served: ['*'] },
    dialects: [],
    offerSecret: null,
    upstreamSecret: null,
    storeUrl: null,
    proxies: 0,
    timeouts: { connectMs: 1000, answerMs: 10_000, idleMs: 60_000, bodyMs: 30_000, drainMs: 5000 },
    connections: 1000,
    hashBytes: 1000,
    heldBytes: 10_000_000,
    storedBytes: 10_000,
    readsBodies: false,
    ...changed,
  };
  const gate = await startGate(settings, log, tracing);
  const url = `http://127.0.0.1:${gate.port}`;
  return {
    api,
    upstream,
    gate,
    lines,
    settings,
    url,
    operations: `http://127.0.0.1:${gate.operationsPort}`,
    /** The headers of a payment for an address. */
    pay: (path = '/report') => api.pay({ resource: `${PUBLIC_URL}${path}` }),
    stop: async () => {
      await gate.stop();
      await upstream.stop();
      await api.stop();
    },
  };
};
export type GateWorld = Awaited<ReturnType<typeof startGateWorld>>;

/** Sends bytes, and returns all that comes back until the connection ends. */
export const sendRaw = (port: number, text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let said = '';
    socket.on('data', (chunk) => {
      said += String(chunk);
    });
    socket.on('error', reject).on('close', () => resolve(said));
    socket.write(text);
  });

type Got = { answer: IncomingMessage; text: string };

/** A request whose parts a fetch does not show: trailers, raw headers. */
export const ask = (
  url: string,
  options: http.RequestOptions = {},
  send: (request: http.ClientRequest) => void = (request) => request.end(),
): Promise<Got> =>
  new Promise((resolve, reject) => {
    const request = http.request(url, options, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => resolve({ answer, text: Buffer.concat(chunks).toString() }));
    });
    request.on('error', reject);
    send(request);
  });

/** Reads the body of a request. */
export const textOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};
