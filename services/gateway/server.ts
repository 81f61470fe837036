import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { notFound, ServiceError } from '../../shared/contract/errors.ts';
import { count, record } from '../../shared/lib/metrics.ts';
import { endUnusedOnClose } from './connections.ts';
import { registerConsole } from './console.ts';
import { registerCors } from './cors.ts';
import type { Deps } from './deps.ts';
import { answerSocketError, BASE_HEADERS, sendError, toServiceError } from './errors.ts';
import { registerPages } from './pages.ts';
import { originOf } from './proxies.ts';
import { registerRoutes } from './routes.ts';
import { registerTracing } from './trace.ts';

/** A settle carries a quote token of at most 16 kB; nothing the API takes is larger than this. */
const MAX_BODY_BYTES = 64 * 1024;
/** For the whole request to arrive: a client that sends a byte a minute must not hold a connection. */
const REQUEST_TIMEOUT_MS = 15_000;
/** How long a body that is refused is read on, so that its sender is still there to hear the refusal. */
const REFUSED_BODY_MS = 1000;

const requestIdOf = ({ headers }: IncomingMessage): string => {
  const given = headers['x-request-id'];
  return typeof given === 'string' && /^[A-Za-z0-9-]{1,64}$/.test(given) ? given : randomUUID();
};

/** Closing on a sender that still sends makes its network stack throw the answer away. */
const readOn = async ({ raw }: FastifyRequest): Promise<void> => {
  raw.resume();
  await Promise.race([
    new Promise((resolve) => raw.once('end', resolve).once('close', resolve)),
    sleep(REFUSED_BODY_MS, undefined, { ref: false }),
  ]);
};

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

/** Of several Node keeps the first and drops the rest silently; a proxy may have gone by the last. */
const ONCE = ['host', 'authorization', 'content-type'];

/** What Node's parser lets through although two readers may take it for different requests; null when nothing. */
const malformedIn = ({ headers, rawHeaders, httpVersion, url = '' }: IncomingMessage): string | null => {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return 'HTTP/1.1 is needed';
  if (headers.host === undefined && httpVersion === '1.1') return 'the Host header is missing';
  // Fastify answers `*` as it does `/`. The form with a host in it is for proxies, and contradicts the Host header.
  if (!url.startsWith('/')) return 'the request target must be a path';
  const names = rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());
  const repeated = ONCE.find((name) => names.indexOf(name) !== names.lastIndexOf(name));
  return repeated === undefined ? null : `the header ${repeated} is there twice`;
};

/** By route, never by URL, which has no end of forms; a call without a credential that fits belongs to no environment. */
const measure = (request: FastifyRequest, { statusCode, elapsedTime }: FastifyReply): void => {
  const labels = {
    environment: request.caller?.environment.name ?? 'none',
    'http.route': request.routeOptions.url ?? 'none',
  };
  record('http.server.request.duration', elapsedTime / 1000, {
    ...labels,
    'http.request.method': request.method,
    'http.response.status_code': String(statusCode),
  });
  if (statusCode === 429) count('settle.rate_limited', 1, labels);
};

/** The HTTP side of the gateway, not yet listening. Every error of Fastify or Node is set to our own shape. */
export const createServer = (deps: Deps): FastifyInstance => {
  const { logger, readiness } = deps;
  // Of named fields without a secret: looking through them for one was 3 % of the gateway's time.
  const requests = logger.child({}, { redact: [] });

  const answerError = async (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const known = toServiceError(error);
    if (known === null) logger.error({ err: error, request_id: request.id }, 'request failed');
    // Fastify has said `connection: close`, as it does not read the rest of a body it refuses.
    if (reply.hasHeader('connection')) await readOn(request);
    return sendError(reply, known, request.routeOptions.config.operation?.money);
  };
  const baseHeaders = (request: FastifyRequest, reply: FastifyReply) => {
    void reply.headers({ ...BASE_HEADERS, 'x-request-id': request.id });
  };

  const app = fastify({
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    genReqId: requestIdOf,
    // Node's own answer to a missing Host header has another shape; the hook below gives ours.
    http: { requireHostHeader: false },
    clientErrorHandler: answerSocketError,
    frameworkErrors: (error, request, reply) => {
      baseHeaders(request, reply);
      void sendError(reply, toServiceError(error));
    },
  });

  // The body stays bytes: what is counted, decoded and refused, in which order, is routes.ts' to say.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, bytes, done) =>
    done(null, bytes),
  );
  app.decorateRequest('caller', null);
  app.decorateRequest('counted', false);
  app.decorateRequest('origin');

  app.addHook('onRequest', async (request, reply) => {
    baseHeaders(request, reply);
    // At once: a connection that ends meanwhile no longer tells its address.
    request.origin = originOf(request.raw, deps.trustedProxies);
    const malformed = malformedIn(request.raw);
    if (malformed !== null) throw new ServiceError('validation_error', malformed);
  });
  registerTracing(app, deps.adoptsTraces);
  // After the credential, so that the limits know whose call it was.
  app.addHook('preParsing', async (request) => {
    if (request.method === 'GET' && hasBody(request.raw)) {
      throw new ServiceError('validation_error', 'a GET takes no body');
    }
  });
  // When the answer goes out, not when the call came in: a call that was in flight when draining began would
  // otherwise leave its connection open, and the server waiting for it.
  app.addHook('onSend', async (_request, reply) => {
    if (readiness.isDraining()) void reply.header('connection', 'close');
  });
  app.addHook('onResponse', async (request, reply) => {
    measure(request, reply);
    // The route, never the URL: a query may hold what somebody mistook for a place for keys.
    requests.info(
      {
        request_id: request.id,
        method: request.method,
        route: request.routeOptions.url ?? null,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
        environment: request.caller?.environment.name,
        credential: request.caller?.principal.kind,
      },
      'request',
    );
  });
  app.setErrorHandler(answerError);
  app.setNotFoundHandler((_request, reply) => sendError(reply, notFound('path')));

  endUnusedOnClose(app);
  registerCors(app, deps);
  registerRoutes(app, deps);
  registerPages(app, deps);
  registerConsole(app);
  return app;
};
