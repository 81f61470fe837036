import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { count, record } from '../../../shared/lib/telemetry/metrics.ts';
import type { Authenticated } from '../credentials/authenticate.ts';
import type { Readiness } from '../health/readiness.ts';
import { registerConsole } from '../pages/console.ts';
import { type PageDeps, registerPages } from '../pages/pages.ts';
import { answerUnknown } from '../pages/site.ts';
import type { DeprecatedUses } from '../requests/deprecated-uses.ts';
import { describeRequest } from '../requests/describe.ts';
import type { RequestLog } from '../requests/request-log.ts';
import { endUnusedOnClose } from './connections.ts';
import { registerCors } from './cors.ts';
import { registerDocuments } from './documents.ts';
import { baseHeaders, createErrorAnswers, type ErrorAnswers, toServiceError } from './errors.ts';
import { collectPaths, type Paths } from './methods.ts';
import { originOf } from './proxies.ts';
import { type RouteDeps, registerRoutes } from './routes.ts';
import { registerTracing } from './trace.ts';

/** No body of the API is larger: a settle has a quote token of at most 16 kB. */
const MAX_BODY_BYTES = 64 * 1024;
/**
 * The time for a whole request to arrive. A client that sends a byte a minute must not hold a
 * connection.
 */
const REQUEST_TIMEOUT_MS = 15_000;
/** How long a refused body is still read, so that its sender receives the refusal. */
const REFUSED_BODY_MS = 1000;

const requestIdOf = ({ headers }: IncomingMessage): string => {
  const sent = headers['x-request-id'];
  return typeof sent === 'string' && /^[A-Za-z0-9-]{1,64}$/.test(sent) ? sent : randomUUID();
};

/**
 * Reads the rest of a body: closing while a sender sends makes its network stack discard the
 * answer.
 */
const discardBody = async ({ raw }: FastifyRequest): Promise<void> => {
  raw.resume();
  await Promise.race([
    new Promise((resolve) => raw.once('end', resolve).once('close', resolve)),
    sleep(REFUSED_BODY_MS, undefined, { ref: false }),
  ]);
};

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

/**
 * Of several such headers Node uses the first and drops the rest silently. A proxy may have used
 * the last.
 */
const SINGLE_HEADERS = ['host', 'authorization', 'content-type'];

/**
 * Why a request that Node's parser accepts is refused: two parsers may read it as different
 * requests.
 * @returns null for a good request
 */
const findMalformation = ({ headers, rawHeaders, httpVersion, url = '' }: IncomingMessage): string | null => {
  if (httpVersion !== '1.1' && httpVersion !== '1.0')
    return 'only HTTP/1.0 and HTTP/1.1 are supported; send HTTP/1.1';
  if (headers.host === undefined && httpVersion === '1.1') return 'the Host header is missing; send it';
  // Fastify answers `*` like `/`. The form with a host is for proxies and may contradict the Host
  // header.
  if (!url.startsWith('/')) return 'the request target must be a path that starts with /';
  const found = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase();
    if (found.has(name) && SINGLE_HEADERS.includes(name))
      return `the header ${name} was sent twice; send it once`;
    found.add(name);
  }
  return null;
};

/**
 * Records the metrics of a call, by route: URLs are unbounded. A call without a valid credential
 * belongs to no environment.
 */
const measure = (request: FastifyRequest, { statusCode, elapsedTime }: FastifyReply): void => {
  const { url, config } = request.routeOptions;
  const labels = {
    environment: request.caller?.environment.name ?? 'none',
    'http.route': url ?? 'none',
  };
  record('quittance_http_request_duration_seconds', elapsedTime / 1000, {
    ...labels,
    journey: config.operation?.journey ?? 'none',
    'http.request.method': request.method,
    'http.response.status_code': String(statusCode),
  });
  if (statusCode === 429) count('quittance_rate_limited_total', 1, labels);
};

type ServerDeps = RouteDeps &
  PageDeps & {
    readiness: Pick<Readiness, 'isDraining'>;
    requestLog: Pick<RequestLog, 'add'>;
    deprecatedUses: Pick<DeprecatedUses, 'add'>;
    /** The output of `console/build.ts`. */
    consoleFolder: string;
    /** Origins whose scripts may call the API; `*` is all of them, without cookies. */
    corsOrigins: readonly string[] | '*' | undefined;
    /** How many proxies every request passes. */
    trustedHops: number;
    /** Whether the trusted proxies begin the traces themselves. */
    adoptsTraces: boolean;
  };

type SetBaseHeaders = (request: FastifyRequest, reply: FastifyReply) => void;

const createSetBaseHeaders = (publicUrl: string): SetBaseHeaders => {
  const headers = baseHeaders(publicUrl);
  return (request, reply) => void reply.headers({ ...headers, 'x-request-id': request.id });
};

/** Fastify with the gateway's limits, and with its error shape for requests that reach no route. */
const createFastify = (answers: ErrorAnswers, setBaseHeaders: SetBaseHeaders): FastifyInstance => {
  const app = fastify({
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    exposeHeadRoutes: true, // RFC 9110, 9.3.2: HEAD is answered like GET, without content.
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    genReqId: requestIdOf,
    // Node's answer to a missing Host header has another shape. `checkRequests` answers in the
    // shape of the API.
    http: { requireHostHeader: false },
    clientErrorHandler: answers.sendToSocket,
    frameworkErrors: (error, request, reply) => {
      setBaseHeaders(request, reply);
      void answers.send(reply, toServiceError(error));
    },
  });
  // The body stays bytes, because routes.ts decides in which order it is counted, decoded and
  // refused.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, bytes, done) =>
    done(null, bytes),
  );
  app.decorateRequest('caller', null);
  app.decorateRequest('counted', false);
  app.decorateRequest('sent', undefined);
  app.decorateRequest('refusal');
  app.decorateRequest('ids');
  app.decorateRequest('origin');
  return app;
};

/** Sets the headers of every answer and refuses malformed requests. */
const checkRequests = (app: FastifyInstance, trustedHops: number, setBaseHeaders: SetBaseHeaders): void => {
  app.addHook('onRequest', (request, reply, done) => {
    setBaseHeaders(request, reply);
    // Read first, because a connection that has ended no longer has an address.
    request.origin = originOf(request.raw, trustedHops);
    const malformation = findMalformation(request.raw);
    if (malformation === null) done();
    else done(new ServiceError('validation_error', malformation));
  });
};

/** A compressed body is not read: a small one could unpack to any size. */
const isCompressed = ({ headers }: IncomingMessage): boolean =>
  (headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity';

const refuseBodies = (app: FastifyInstance): void => {
  // After the credential is checked, so that the limits of its account count the call.
  app.addHook('preParsing', (request, reply, _payload, done) => {
    if (!hasBody(request.raw)) return done();
    const { method } = request;
    if (method === 'GET' || method === 'HEAD')
      return done(new ServiceError('validation_error', `a ${method} must not have a body; remove it`));
    if (!isCompressed(request.raw)) return done();
    // RFC 9110, section 12.5.3.
    void reply.header('accept-encoding', 'identity');
    const message = 'the body is compressed; send it without Content-Encoding';
    done(new ServiceError('unsupported_media_type', message));
  });
};

const accountOf = (caller: Authenticated | null): string | undefined =>
  caller === null || caller.principal.kind === 'none' ? undefined : caller.principal.account_id;

/** Counts a call of what a later release removes. The console is replaced together with the API. */
const noteDeprecated = (
  { routeOptions, caller }: FastifyRequest,
  described: { accountId: string } | null,
  deprecatedUses: Pick<DeprecatedUses, 'add'>,
): void => {
  const { name: operation, operation: declared } = routeOptions.config;
  if (operation === undefined || declared?.deprecated === undefined) return;
  const environment = caller?.environment.name ?? 'none';
  count('quittance_deprecated_calls_total', 1, { environment, operation });
  if (described !== null) deprecatedUses.add({ environment, operation, accountId: described.accountId });
};

const logRequests = (
  app: FastifyInstance,
  { logger, requestLog, deprecatedUses }: Pick<ServerDeps, 'logger' | 'requestLog' | 'deprecatedUses'>,
): void => {
  // Without redaction: searching these named fields for secrets took 3 % of the gateway's time.
  const requests = logger.child({}, { redact: [] });
  const write = (request: FastifyRequest, reply: FastifyReply, aborted?: true) => {
    const { caller, routeOptions } = request;
    // The route, never the URL: a caller may have put a key into the query by mistake.
    requests.info(
      {
        request_id: request.id,
        trace_id: request.traceId,
        method: request.method,
        route: routeOptions.url ?? null,
        operation: routeOptions.config.name,
        status: reply.statusCode,
        aborted,
        code: request.refusal?.code,
        ms: Math.round(reply.elapsedTime),
        environment: caller?.environment.name,
        credential: caller?.principal.kind,
        account_id: accountOf(caller),
        ...request.ids,
      },
      'request',
    );
  };
  // No `onResponse` follows where the caller has gone, but its call may have paid.
  app.addHook('onSend', (request, reply, _payload, done) => {
    if (reply.raw.destroyed) write(request, reply, true);
    else
      reply.raw.once('close', () => {
        if (!reply.raw.writableFinished) write(request, reply, true);
      });
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    measure(request, reply);
    const described = describeRequest(request, reply);
    if (described !== null) requestLog.add(described.accountId, described.logged);
    noteDeprecated(request, described, deprecatedUses);
    write(request, reply);
    done();
  });
};

/**
 * The refusal of a request without a route: of its method if the path has other ones, otherwise of
 * its path.
 */
const refuseUnrouted = (
  method: string,
  { allowed, meant }: { allowed: readonly string[]; meant: string | undefined },
  publicUrl: string,
): ServiceError => {
  if (allowed.length === 0 || allowed.includes(method)) {
    const guess = meant === undefined ? '' : `did you mean ${meant}? `;
    const where = `${publicUrl}/docs has the paths of this API`;
    return new ServiceError('not_found', `no such path; ${guess}${where}`);
  }
  const guess = meant === undefined ? '' : `, or did you mean ${method} ${meant}?`;
  // Without HEAD, which every path with GET has.
  const others = allowed.filter((each) => each !== 'HEAD').join(' or ');
  return new ServiceError('method_not_allowed', `the path has no method ${method}; use ${others}${guess}`);
};

const answerErrors = (
  app: FastifyInstance,
  { logger, publicUrl, site }: Pick<ServerDeps, 'logger' | 'publicUrl' | 'site'>,
  answers: ErrorAnswers,
  paths: Paths,
): void => {
  app.setErrorHandler(async (error: unknown, request, reply) => {
    const expected = toServiceError(error);
    if (expected === null) logger.error({ err: error, request_id: request.id }, 'request failed');
    // Fastify has set `connection: close`, because it does not read the rest of a refused body.
    if (reply.hasHeader('connection')) await discardBody(request);
    return answers.send(reply, expected, request.routeOptions.config.operation);
  });
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0]!;
    const allowed = paths.methodsOf(path);
    const meant = paths.nearestTo(path, request.method);
    const refusal = refuseUnrouted(request.method, { allowed, meant }, publicUrl);
    if (refusal.code === 'method_not_allowed') void reply.header('allow', allowed.join(', '));
    return answerUnknown(site, request, reply) ?? answers.send(reply, refusal);
  });
};

/**
 * The HTTP side of the gateway, not yet listening. Errors of Fastify and Node are answered in the
 * shape of the API. Hooks run in the order in which they are added here.
 */
export const createServer = (deps: ServerDeps): FastifyInstance => {
  const answers = createErrorAnswers(deps);
  const setBaseHeaders = createSetBaseHeaders(deps.publicUrl);
  const app = createFastify(answers, setBaseHeaders);
  checkRequests(app, deps.trustedHops, setBaseHeaders);
  registerTracing(app, deps.adoptsTraces);
  refuseBodies(app);
  // Set with the answer, not with the request: a call that began before the drain would otherwise
  // keep its connection open, and the server would wait for it.
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (deps.readiness.isDraining()) void reply.header('connection', 'close');
    done();
  });
  logRequests(app, deps);
  const paths = collectPaths(app);
  answerErrors(app, deps, answers, paths);

  endUnusedOnClose(app);
  registerCors(app, deps.corsOrigins, paths);
  registerDocuments(app);
  registerRoutes(app, deps);
  registerPages(app, deps);
  registerConsole(app, deps);
  return app;
};
