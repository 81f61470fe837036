// An upstream that answers 1 kB, a bare reverse proxy of Node, or a gate, each as its own process.
import http, { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import pino from 'pino';
import { startGate } from '../../gate/src/program/start.ts';
import type { ProxyJob } from './proxies.ts';

const job = JSON.parse(process.argv[2]!) as ProxyJob;
process.on('disconnect', () => process.exit());

const BODY = Buffer.alloc(1024, 'a');

const serve = (listener: RequestListener): void => {
  const server = createServer({ keepAliveTimeout: 75_000 }, listener);
  server.listen(0, '127.0.0.1', () => {
    process.send!({ origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  });
};

/** What a reverse proxy of Node is without anything else. */
const bare = (upstream: string): RequestListener => {
  const agent = new http.Agent({ keepAlive: true });
  const { hostname: host, port } = new URL(upstream);
  return (request, response) => {
    const { method, url, headers } = request;
    const asked = http.request({ agent, host, port, method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    asked.on('error', () => response.destroy());
    request.pipe(asked);
  };
};

switch (job.kind) {
  case 'upstream':
    serve((_request, response) => response.writeHead(200, { 'content-length': BODY.length }).end(BODY));
    break;
  case 'bare':
    serve(bare(job.upstream));
    break;
  default: {
    const lines = pino.destination({ dest: '/dev/null', minLength: 4096, sync: false });
    const gate = await startGate(
      {
        ...job.settings,
        upstream: new URL(job.upstream),
        listen: { host: '127.0.0.1', port: job.port },
        operations: { host: '127.0.0.1', port: 0 },
        passesUnmatched: true,
        hosts: { own: '127.0.0.1', served: ['*'] },
        dialects: [],
        offerSecret: null,
        upstreamSecret: null,
        proxies: 0,
        timeouts: { connectMs: 5000, answerMs: 60_000, idleMs: 300_000, bodyMs: 30_000, drainMs: 1000 },
        connections: 10_000,
        heldBytes: 67_108_864,
        hashBytes: 1_048_576,
        storedBytes: 65_536,
        readsBodies: true,
      },
      pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, lines),
    );
    process.send!({ origin: `http://127.0.0.1:${gate.port}` });
  }
}
