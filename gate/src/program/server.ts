import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { refuseWith } from '../calls/answers.ts';
import { type Decider, serveQuestion } from '../calls/authorize.ts';
import type { Cuts } from '../calls/forward.ts';
import { type Gate, newRecord, serve, targetOf } from '../calls/gate.ts';
import { type Switching, serveUpgrades } from '../calls/upgrade.ts';
import { SettingsError } from '../ground/yaml-file.ts';
import type { Address } from '../settings/settings.ts';
import { type CallRecord, fieldsOf, type GateLog } from '../telemetry/call-log.ts';
import type { CallSpan, Tracing } from '../telemetry/call-span.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** Longer than load balancers keep theirs, so that none sends into a connection that is closing. */
const KEEP_ALIVE_MS = 75_000;
const OPTIONS = {
  insecureHTTPParser: false,
  keepAliveTimeout: KEEP_ALIVE_MS,
  headersTimeout: 60_000,
  // An upload may take longer than any fixed time. A connection without bytes is closed.
  requestTimeout: 0,
  noDelay: true,
};
const DRAIN_POLL_MS = 50;
/** How long calls that are cut off may take to write what became of them. */
const CUT_MS = 2000;

/** Why nothing can listen at an address, as a mistake in the settings that name it. */
const asListenFault = (error: NodeJS.ErrnoException, address: string): Error => {
  const why = {
    EADDRINUSE: 'another program listens there already: end it, or choose another port',
    EACCES: 'this user may not listen there: choose a port from 1024 on',
    EADDRNOTAVAIL: 'this machine has no such address',
    ENOTFOUND: 'its name is unknown',
  }[error.code ?? ''];
  return why === undefined ? error : new SettingsError(`${address}: ${why}`);
};

/** Later errors are of single connections, like one that was not accepted for want of a file. */
const listen = (server: Server, { host, port }: Address): Promise<number> =>
  new Promise((resolve, reject) => {
    server.on('error', (error: NodeJS.ErrnoException) => reject(asListenFault(error, `${host}:${port}`)));
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });

type Reports = { log: GateLog; metrics: Metrics; tracing: Tracing };

/** The calls that have not ended, each with its record and its span. */
const createCalls = ({ log, metrics, tracing }: Reports) => {
  let open = 0;
  const begin = (request: IncomingMessage) => {
    const [startedAt, record] = [performance.now(), newRecord()];
    const path = targetOf(request)?.path ?? '';
    const span = tracing.begin(request, path);
    open += 1;
    metrics.begin();
    const end = (): void => {
      open -= 1;
      const ms = performance.now() - startedAt;
      metrics.end(record, ms);
      span.end(record);
      log.info(fieldsOf(request, { path, ms, traceId: span.traceId }, record), 'call');
    };
    return { record, span, end };
  };
  /** A mistake of ours. What was paid can be requested again. */
  const fail = (error: unknown, record: CallRecord): void => {
    record.reason ??= 'internal';
    log.error({ error: String((error as Error)?.stack ?? error) }, 'a call has failed');
  };
  return { begin, fail, open: () => open };
};

/** Forwards a request, or answers the question of a proxy. */
const serveOne = (
  gate: Gate | Decider,
  request: IncomingMessage,
  response: ServerResponse,
  call: { record: CallRecord; cuts: Cuts; span: CallSpan; switching: Switching | null },
): Promise<void> =>
  'upstream' in gate ? serve(gate, request, response, call) : serveQuestion(gate, request, response, call);

/** Answers after a mistake of ours, unless the answer that has begun cannot be replaced. */
const refuseOrEnd = (response: ServerResponse): void => {
  try {
    refuseWith(response, 503, 'internal');
  } catch {
    response.destroy();
  }
};

/**
 * The listener of a gate.
 * @param current the gate of the latest reload; a call keeps the one that it began with
 */
export const createListener = (current: () => Gate | Decider, reports: Reports) => {
  const { log } = reports;
  const calls = createCalls(reports);
  let isDraining = false;
  const cuts: Cuts = new Set();
  const handle = async (
    request: IncomingMessage,
    response: ServerResponse,
    switching: Switching | null = null,
  ): Promise<void> => {
    const { record, span, end } = calls.begin(request);
    if (isDraining) response.shouldKeepAlive = false;
    const closed = new Promise((resolve) => response.once('close', resolve));
    try {
      await serveOne(current(), request, response, { record, cuts, span, switching });
    } catch (error) {
      calls.fail(error, record);
      refuseOrEnd(response);
    }
    await closed;
    record.status = response.headersSent ? response.statusCode : null;
    end();
  };

  const server = http.createServer(OPTIONS, (request, response) => void handle(request, response));
  server.on('error', (error) => log.error({ error: error.message }, 'a connection is not accepted'));
  // The size of a head is limited. A limit of their number would cut the end of it off.
  server.maxHeadersCount = 0;
  server.on('checkContinue', (request, response) => void handle(request, response));
  serveUpgrades(server, () => 'upstream' in current(), handle);
  server.setTimeout(current().settings.timeouts.idleMs);
  server.maxConnections = current().settings.connections;

  const waitForCalls = async (ms: number): Promise<void> => {
    const until = Date.now() + ms;
    while (calls.open() > 0 && Date.now() < until) {
      server.closeIdleConnections();
      await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS));
    }
  };

  return {
    start: (address: Address) => listen(server, address),
    isDraining: () => isDraining,
    /** Takes no further connection, and waits for the open calls, at most so long. */
    drain: async (drainMs: number): Promise<void> => {
      isDraining = true;
      const closed = new Promise((resolve) => server.close(resolve));
      await waitForCalls(drainMs);
      if (calls.open() > 0)
        log.warn({ open: calls.open() }, 'calls are cut off, because the time to drain is over');
      // Before the connections: a buyer who leaves would have to pay.
      const ended = Promise.allSettled([...cuts].map((cut) => cut()));
      server.closeAllConnections();
      await Promise.all([closed, ended]);
      await waitForCalls(CUT_MS);
    },
  };
};

/** Serves liveness, readiness and metrics. */
export const startOperations = async (
  address: Address,
  metrics: Metrics,
  findings: () => Promise<Record<string, boolean>>,
): Promise<{ port: number; stop: () => Promise<void> }> => {
  const server = http.createServer(async (request, response) => {
    const json = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    switch (request.url?.split('?')[0]) {
      case '/healthz':
        return json(200, { status: 'ok' });
      case '/readyz': {
        const found = await findings();
        const isReady = Object.values(found).every(Boolean);
        return json(isReady ? 200 : 503, { status: isReady ? 'ok' : 'not_ready', ...found });
      }
      case '/metrics':
        response.writeHead(200, { 'content-type': metrics.registry.contentType });
        return response.end(await metrics.registry.metrics());
      default:
        return json(404, { error: 'not_found' });
    }
  });
  const port = await listen(server, address);
  return {
    port,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
